"""A disk that is full in the middle of a run: it is said, nothing finished is lost, and with some room the run goes on."""

import json
import shutil
import subprocess
import unittest

from harness import BIN, Case, SPEED, knob, script
from test_hostile import FAST, hostile

CAN_MOUNT = ["unshare", "--map-root-user", "--mount"]


def can_mount():
    if not shutil.which("unshare"):
        return False
    return subprocess.run([*CAN_MOUNT, "mount", "-t", "tmpfs", "tmpfs", "/mnt"], capture_output=True).returncode == 0


@unittest.skipUnless(can_mount(), "mounting a small file system needs unshare and user namespaces, which are not to be had here")
class FullDisk(Case):
    def test_a_run_goes_on_when_there_is_room_again(self):
        for kib in (1200, 2500, 4000):  # the end comes in another step of the run each time
            with self.subTest(kib=kib):
                self.run_out_of(kib)

    def run_out_of(self, kib):
        other = knob("OTHER", *"abcdefgh", latency={value: 1 + i / 20 for i, value in enumerate("abcdefgh")})
        project = self.project(script(SPEED, other, artifact_bytes=200_000), f"project{kib}")
        small = project.folder / "small"
        small.mkdir()
        steps = f"""
            mount -t tmpfs -o size={kib}k tmpfs {small}
            "{BIN}/fiel" tune contract.toml -o small/run > first.out 2> first.err; echo $? > first.status
            mount -o remount,size=200m {small}
            "{BIN}/fiel" resume small/run --json > second.out 2> second.err; echo $? > second.status
        """
        subprocess.run([*CAN_MOUNT, "sh", "-c", steps], cwd=project.folder, env=project.environment(), timeout=240, check=True)
        read = {name: (project.folder / name).read_text() for name in
                ("first.status", "first.err", "second.status", "second.err", "second.out")}
        self.assertEqual(read["first.status"].strip(), "5", read["first.err"])
        self.assertRegex(read["first.err"], "(?i)full|no space left")
        self.assertIn("fiel resume", read["first.err"])
        self.assertEqual(read["second.status"].strip(), "0", read["second.err"])
        result = json.loads(read["second.out"])
        self.assertEqual(result["verdict"], "improved")
        # Whoever lacked the disk was not blamed for it.
        self.assertNotIn("failed", {candidate["status"] for candidate in result["candidates"]})


    def test_a_worker_that_fills_it_costs_its_own_candidate_only(self):
        defect = knob("DEFECT", "none", "fills_disk", latency={"fills_disk": FAST})
        project = hostile(self.project(script(SPEED, defect), "filled"))
        small = project.folder / "small"
        small.mkdir()
        steps = f"""
            mount -t tmpfs -o size=300m tmpfs {small}
            "{BIN}/fiel" tune contract.toml -o small/run --strategy fast --json > out 2> err; echo $? > status
        """
        subprocess.run([*CAN_MOUNT, "sh", "-c", steps], cwd=project.folder, env=project.environment(), timeout=240, check=True)
        self.assertEqual((project.folder / "status").read_text().strip(), "0", (project.folder / "err").read_text())
        result = json.loads((project.folder / "out").read_text())
        self.assertEqual(result["winner"]["route"].split()[1:], ["SPEED=fast"])
        filler, = [c for c in result["candidates"] if c["route"].split()[1:] == ["DEFECT=fills_disk"]]
        self.assertEqual((filler["status"], filler["kind"]), ("failed", "mistrusted"))
        self.assertIn("filled the disk", filler["reason"])


if __name__ == "__main__":
    unittest.main()
