"""Odd objects in memory are refused with an error of the package, or have the textbook's scores."""

import fuzz_memory

test_odd_objects_are_refused_or_have_the_scores_of_the_textbook = fuzz_memory.check_memory
