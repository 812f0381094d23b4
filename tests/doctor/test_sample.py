from __future__ import annotations

from chatbot.doctor.sample import LONGEST_TEXT, Sample


def fill(sample: Sample, count: int, long_rows: range = range(0)) -> Sample:
    for number in range(count):
        sample.add(f"{number}", "가" * 200 if number in long_rows else "가", 0, number + 2)
    return sample


def test_few_pairs_are_kept_whole_and_in_order() -> None:
    sample = fill(Sample(size=10), 10)
    assert sample.is_whole
    assert [pair.number for pair in sample.pairs] == list(range(10))
    assert sample.long_pairs == []


def test_many_pairs_are_sampled_fairly_and_the_same_way_each_time() -> None:
    sample = fill(Sample(size=1000), 10_000)
    numbers = [pair.number for pair in sample.pairs]
    assert not sample.is_whole
    assert len(set(numbers)) == 1000
    assert numbers == sorted(numbers)
    for tenth in range(10):  # 100 of each expected, standard deviation below 10
        assert 50 < sum(tenth * 1000 <= number < (tenth + 1) * 1000 for number in numbers) < 150
    assert numbers == [pair.number for pair in fill(Sample(size=1000), 10_000).pairs]


def test_long_pairs_are_kept_whether_they_are_sampled_or_not() -> None:
    sample = fill(Sample(size=100, longest=50), 10_000, range(5000, 5040))
    kept = {pair.number for pair in (*sample.pairs, *sample.long_pairs)}
    assert kept >= set(range(5000, 5040))
    assert len(sample.pairs) == 100
    assert not {pair.number for pair in sample.pairs} & {pair.number for pair in sample.long_pairs}
    assert sample.has_all_long_pairs
    assert not fill(Sample(size=100, longest=50), 10_000, range(5000, 5060)).has_all_long_pairs


def test_a_cell_of_a_megabyte_is_not_kept_whole() -> None:
    sample = Sample()
    sample.add("가" * 1_000_000, "나", 0, 2)
    assert len(sample.pairs[0].question) == LONGEST_TEXT
