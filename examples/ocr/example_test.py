"""The example's evaluator scores as it says, and its data sets are what the contract says of them."""

import json
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np

import prepare
import render
import score
import texts

HERE = Path(__file__).resolve().parent
CHARACTERS = ["", "a", "b", "c", " "]


def outputs_for(classes):
    return np.eye(len(CHARACTERS), dtype=np.float32)[classes]


class Score(unittest.TestCase):
    def test_decoding_collapses_repeats_and_drops_blanks(self):
        self.assertEqual(score.decode(outputs_for([0, 1, 1, 0, 1, 2, 0]), CHARACTERS), "aab")

    def test_decoding_keeps_inner_spaces_and_trims_outer_ones(self):
        self.assertEqual(score.decode(outputs_for([4, 1, 4, 2, 0, 4]), CHARACTERS), "a b")

    def test_nothing_read_is_an_empty_line(self):
        self.assertEqual(score.decode(outputs_for([0, 0, 0]), CHARACTERS), "")

    def test_edit_distance(self):
        self.assertEqual(score.edit_distance("kitten", "sitting"), 3)
        self.assertEqual(score.edit_distance("", "abc"), 3)

    def test_metrics(self):
        self.assertEqual(score.exact_match("ab", " ab "), 1.0)
        self.assertEqual(score.exact_match("ab", "aB"), 0.0)
        self.assertEqual(score.character_accuracy("abxd", "abcd"), 0.75)
        self.assertEqual(score.character_accuracy("far too long", "ab"), 0.0)

    def test_the_program_scores_the_samples_it_is_given_and_no_others(self):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "model").mkdir()
            (folder / "model" / "characters.txt").write_text("a\nb\nc")
            (folder / "score.py").write_bytes((HERE / "score.py").read_bytes())
            (folder / "data").mkdir()
            (folder / "data" / "labels.csv").write_text("sample,label,slice\ns1,ab,clean\ns2,ab,clean\ns3,ab,clean\n")
            (folder / "outputs").mkdir()
            np.savez(folder / "outputs" / "s1.npz", y=outputs_for([1, 0, 2])[None])
            np.savez(folder / "outputs" / "s3.npz", y=outputs_for([1, 0, 3])[None])
            printed = subprocess.run([sys.executable, folder / "score.py", folder / "outputs", folder / "data"],
                                     check=True, capture_output=True, text=True).stdout
        self.assertEqual([json.loads(line) for line in printed.splitlines()],
                         [{"sample": "s1", "score": 1.0}, {"sample": "s3", "score": 0.0}])


class Data(unittest.TestCase):
    def test_the_sets_share_no_word_and_no_typeface(self):
        specs = list(prepare.SETS.values())
        for i, one in enumerate(specs):
            for other in specs[:i]:
                self.assertFalse(set(one["words"]) & set(other["words"]))
                families = [{re.match(r"(.+?)(Sans|Serif|Mono)*(-\w+)?$", font)[1] for font in spec["fonts"]}
                            for spec in (one, other)]
                self.assertFalse(families[0] & families[1])

    def test_lines_are_repeatable_and_never_ones_used_before(self):
        used = set()
        first = texts.lines(["word"], 50, np.random.default_rng(1), used)
        self.assertEqual(first, texts.lines(["word"], 50, np.random.default_rng(1), set()))
        self.assertFalse(set(first) & set(texts.lines(["word"], 50, np.random.default_rng(1), used)))

    def test_every_slice_renders_to_the_models_input_the_same_way_twice(self):
        font = prepare.find_fonts(["DejaVuSans"])[0]
        for slice_name in ("clean", *render.HARD_SLICES):
            first, second = (render.render("Example 1", font, slice_name, np.random.default_rng(7)) for _ in range(2))
            self.assertTrue((first == second).all())
            tensor = render.to_input(first)
            self.assertEqual((tensor.shape, tensor.dtype), ((3, 48, 320), np.float32))
            self.assertTrue(np.isfinite(tensor).all() and abs(tensor).max() <= 1.0 and tensor.std() > 0)


if __name__ == "__main__":
    unittest.main()
