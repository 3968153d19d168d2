"""A real Slurm on this one machine, for one test: munge, one slurmctld, several slurmd under names of their own, all in a folder
of the test's. As root, since slurmd wants to be; touches nothing outside the folder. Debian 12 (22.05) and newer."""

import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path

PROGRAMS = ("munged", "slurmctld", "slurmd", "srun", "squeue", "scancel", "scontrol", "sinfo")

CONF = """ClusterName=fiel
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
CredType=cred/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
MpiDefault=none
ReturnToService=2
KillWait=1
InactiveLimit=0
SlurmdTimeout=5
SlurmdParameters=config_overrides
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool.%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.%n.log
NodeName=n[1-{nodes}] NodeHostname={host} NodeAddr=127.0.0.1 Port=[{first}-{last}] CPUs=2 RealMemory=500 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


class CannotStart(Exception):
    pass


def free_ports(count):
    """So many in a row that nobody listens on now."""
    for first in range(20000 + os.getpid() % 20000, 60000, count):
        try:
            for port in range(first, first + count):
                with socket.socket() as probe:
                    probe.bind(("127.0.0.1", port))
            return first
        except OSError:
            continue
    raise CannotStart("no free ports")


class Slurm:
    def __init__(self, nodes=3):
        missing = [program for program in PROGRAMS if shutil.which(program, path=os.environ["PATH"] + ":/usr/sbin:/sbin") is None]
        if missing:
            raise CannotStart(f"not installed: {', '.join(missing)} (./setup --slurm installs slurmctld, slurmd, slurm-client, munge)")
        if os.geteuid() != 0:
            raise CannotStart("slurmd has to be started by root")
        self.folder = Path(tempfile.mkdtemp(prefix="fiel-slurm-"))
        self.environment = {**os.environ, "SLURM_CONF": str(self.folder / "slurm.conf"), "PATH": os.environ["PATH"] + ":/usr/sbin:/sbin"}
        self.nodes = [f"n{i + 1}" for i in range(nodes)]
        try:
            self.start()
        except Exception:
            self.stop()
            raise

    def start(self):
        for name in ("munge", "state", *(f"spool.{node}" for node in self.nodes)):
            (self.folder / name).mkdir()
        self.folder.chmod(0o755)  # munge's clients ask for that all the way up
        (self.folder / "munge").chmod(0o755)
        key = self.folder / "munge/key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o600)
        first = free_ports(len(self.nodes) + 1)
        conf = CONF.format(host=socket.gethostname().split(".")[0], port=first, folder=self.folder, nodes=len(self.nodes), first=first + 1,
                           last=first + len(self.nodes))
        version = self.run("slurmd", "-V").stdout
        if (number := re.search(r"(\d+)\.(\d+)", version)) and int(number[1]) >= 23:
            (self.folder / "cgroup.conf").write_text("CgroupPlugin=disabled\n")  # older ones want to find one, and need none
        (self.folder / "slurm.conf").write_text(conf)
        munge = self.folder / "munge"
        self.run("munged", f"--socket={munge}/socket", f"--key-file={key}", f"--log-file={munge}/log", f"--pid-file={munge}/pid",
                 f"--seed-file={munge}/seed", "--num-threads=2", "--force")
        self.run("slurmctld")
        for node in self.nodes:
            self.start_node(node)
        end = time.monotonic() + 15
        while sorted(self.run("sinfo", "-h", "-N", "-t", "idle", "-o", "%N").stdout.split()) != self.nodes:
            if time.monotonic() > end:
                raise CannotStart(f"{version.strip()}: the nodes did not come up:\n{self.last_words()}")
            time.sleep(0.1)

    def run(self, *words):
        done = subprocess.run(words, env=self.environment, capture_output=True, text=True, timeout=20)
        if done.returncode != 0:
            raise CannotStart(f"{' '.join(words)}: {done.stderr.strip()}\n{self.last_words()}")
        return done

    def last_words(self):
        return "\n".join(f"{log.name}: {line}" for log in sorted(self.folder.glob("*.log")) for line in log.read_text().splitlines()[-4:])

    def start_node(self, node):
        self.run("slurmd", "-N", node)

    def jobs(self):
        """[(id, state, node)] of all that are queued or running."""
        return [tuple(line.split("|")) for line in self.run("squeue", "-h", "-o", "%i|%T|%N").stdout.splitlines()]

    def running(self):
        return [(job, node) for job, state, node in self.jobs() if state == "RUNNING"]

    def kill_node(self, node):
        """As when the machine dies: its daemon, and all that runs for it."""
        daemon = int((self.folder / f"slurmd.{node}.pid").read_text())
        jobs = {job for job, where in self.running() if where == node}
        os.kill(daemon, signal.SIGKILL)
        for entry in Path("/proc").iterdir():
            try:
                words = (entry / "cmdline").read_bytes().decode(errors="replace")
                if entry.name.isdigit() and any(words.startswith(f"slurmstepd: [{job}.") for job in jobs):
                    for task in subprocess.run(["pgrep", "-P", entry.name], capture_output=True, text=True).stdout.split():
                        os.kill(int(task), signal.SIGKILL)
                    os.kill(int(entry.name), signal.SIGKILL)
            except (OSError, ValueError):
                continue

    def stop(self):
        for pid_file in [*self.folder.glob("slurmd.*.pid"), self.folder / "slurmctld.pid", self.folder / "munge/pid"]:
            try:
                os.kill(int(pid_file.read_text()), signal.SIGKILL)
            except (OSError, ValueError):
                continue
        shutil.rmtree(self.folder, ignore_errors=True)
