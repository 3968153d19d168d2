"""The example's features are magika's own, its labels are the model's, and its sets share nothing."""

import importlib.util
import io
import unittest

import numpy as np

import features
import found
import prepare
import types_of_model
import voice


class Features(unittest.TestCase):
    def values(self, begin, end):
        padding = [features.PADDING]
        return [*begin, *padding * (features.SIDE - len(begin)), *padding * (features.SIDE - len(end)), *end]

    def test_a_short_file_is_padded_behind_the_beginning_and_before_the_end(self):
        self.assertEqual(features.features(b"0123456789").tolist(), self.values(b"0123456789", b"0123456789"))

    def test_white_space_is_taken_off_the_outer_sides_only(self):
        self.assertEqual(features.features(b"\n\t ab cd\r\n \x0b\x0c").tolist(),
                         self.values(b"ab cd\r\n \x0b\x0c", b"\n\t ab cd"))

    def test_of_a_long_file_its_first_and_last_1024_bytes_remain(self):
        content = bytes(range(33, 233)) * 30
        self.assertEqual(features.features(content).tolist(), list(content[:1024]) + list(content[-1024:]))

    def test_only_4096_bytes_of_a_side_are_looked_at(self):
        content = b" " * 4090 + b"abcdefgh" + b"\n" * 4090
        self.assertEqual(features.features(content).tolist(), self.values(b"abcdef", b"cdefgh"))
        self.assertFalse(features.is_enough(features.features(content)))
        self.assertTrue(features.is_enough(features.features(b"12345678")))

    @unittest.skipUnless(importlib.util.find_spec("magika"), "the package magika is not installed")
    def test_magikas_own_code_finds_the_same(self):
        from magika import Magika
        from magika.types import Seekable
        for _, _, content in prepare.collect("calibration"):
            ours = features.features(content)
            own = Magika._extract_features_from_seekable(
                Seekable(io.BytesIO(content)), features.SIDE, 0, features.SIDE, features.PADDING, features.BLOCK, False)
            self.assertEqual(ours.tolist(), [*own.beg, *own.end])


class Data(unittest.TestCase):
    def test_every_type_is_one_that_the_model_knows(self):
        self.assertEqual(len(types_of_model.TYPES), 214)
        self.assertEqual(types_of_model.TYPES, sorted(set(types_of_model.TYPES)))
        self.assertLessEqual({*found.SOURCES, *prepare.MAKERS}, set(types_of_model.TYPES))

    def test_no_folder_of_found_files_belongs_to_two_sets(self):
        for _, folders in found.SOURCES.values():
            pairs = [pair for which in prepare.SETS for pair in set(folders[which])]
            self.assertEqual(len(pairs), len(set(pairs)))

    def test_the_sets_share_no_file_no_style_and_no_sample(self):
        origins, samples, seen = set(), set(), set()
        for which in prepare.SETS:
            rows = list(prepare.samples(which, seen))
            self.assertGreater(len(rows), {"calibration": 120, "tuning": 400, "holdout": 1000}[which])
            own_origins, own_samples = {row[3] for row in rows}, {row[0].tobytes() for row in rows}
            self.assertEqual((len(own_origins), len(own_samples)), (len(rows), len(rows)))
            self.assertFalse(own_origins & origins)
            self.assertFalse(own_samples & samples)
            origins |= own_origins
            samples |= own_samples
        voices = voice.VOICES.values()
        self.assertEqual(len({one["case"] for one in voices}), len(prepare.SETS))
        records = [name for one in voices for name, _ in one["records"]]
        self.assertEqual(len(records), len(set(records)))

    def test_the_same_script_makes_the_same_samples_twice(self):
        first, second = ([(row[0].tobytes(), *row[1:]) for row in prepare.samples("calibration", set())] for _ in range(2))
        self.assertEqual(first, second)

    def test_a_slice_is_what_it_says(self):
        content = b"".join(b"line %d\n" % number for number in range(400))
        generator = np.random.default_rng(1)
        self.assertEqual(prepare.cut(content, "clean", True, generator), content)
        head = prepare.cut(content, "head", True, generator)
        self.assertTrue(content.startswith(head) and len(head) < 300)
        gap = prepare.cut(content, "gap", True, generator)
        self.assertTrue(len(gap) < 320 and gap[:24] == content[:24] and gap[-24:] == content[-24:])
        fragment = prepare.cut(content, "fragment", True, generator)
        self.assertTrue(fragment.startswith(b"line ") and fragment in content and len(fragment) < 900)


if __name__ == "__main__":
    unittest.main()
