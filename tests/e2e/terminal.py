"""fiel on a pseudo-terminal: what a person sees there, byte by byte."""

import fcntl
import os
import pty
import select
import struct
import subprocess
import termios
import time


def set_size(descriptor, columns):
    fcntl.ioctl(descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))


class TypedShell:
    """An interactive shell that somebody types at. `begin` is typed first."""

    def __init__(self, command, environment, folder, begin):
        self.ours, theirs = pty.openpty()
        set_size(self.ours, 120)
        self.process = subprocess.Popen(command, cwd=folder, env=environment, stdin=theirs, stdout=theirs, stderr=theirs,
                                        start_new_session=True)
        os.close(theirs)
        self.ask(begin + "; printf '%s%s\\n' rea dy", "ready")

    def read_until(self, done, seconds):
        """What is written until `done(text)`, or nothing more comes for so long."""
        text, end = "", time.monotonic() + seconds
        while not done(text) and (left := end - time.monotonic()) > 0 and select.select([self.ours], [], [], left)[0]:
            text += os.read(self.ours, 65536).decode(errors="replace")
        return text

    def complete(self, line):
        """Types `line` and Tab, and waits for what the shell adds."""
        os.write(self.ours, line.encode())
        self.read_until(lambda text: len(text) >= len(line), 2)
        os.write(self.ours, b"\t")
        if self.read_until(len, 5):
            self.read_until(lambda text: False, 0.1)

    def ask(self, line, wanted):
        os.write(self.ours, line.encode() + b"\r")
        text = self.read_until(lambda text: wanted in text, 20)
        assert wanted in text, text
        return text

    def close(self):
        self.process.kill()
        self.process.wait(timeout=10)
        os.close(self.ours)


class Terminal:
    """`seen` is everything that was written to it; ends of lines are \\n again."""

    def __init__(self, columns):
        self.ours, self.theirs = pty.openpty()
        set_size(self.ours, columns)
        self.bytes = b""

    def run(self, command, environment, folder, *, on_text=None, timeout=120):
        """`on_text(self)` is called whenever something came."""
        process = subprocess.Popen(command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=self.theirs,
                                   stderr=self.theirs)
        os.close(self.theirs)
        end = time.monotonic() + timeout
        while time.monotonic() < end:
            if not select.select([self.ours], [], [], 0.1)[0]:
                continue
            try:
                part = os.read(self.ours, 65536)
            except OSError:
                part = b""  # nobody has it open any more
            if not part:
                break
            self.bytes += part
            if on_text:
                on_text(self)
        else:
            process.kill()
        os.close(self.ours)
        return process.wait(timeout=10)

    @property
    def seen(self):
        return self.bytes.decode().replace("\r\n", "\n")

    def status_lines(self):
        """What was drawn over itself, in the order in which it was drawn."""
        drawn = []
        for piece in self.seen.split("\r\x1b[K")[1:]:
            if piece.startswith("        ") and "\n" not in piece:
                drawn.append(piece)
        return drawn

    def lines(self):
        """Those that stayed."""
        return [line.split("\r\x1b[K")[-1] for line in self.seen.split("\n")]
