"""An old Python is refused with what to type."""

import pytest

from common import complain_about_python


@pytest.mark.parametrize("version", [(3, 10, 14), (3, 8, 0), (2, 7, 18)])
def test_an_old_python_is_named(version: tuple[int, ...]):
    complaint = complain_about_python(version)
    assert ".".join(map(str, version)) in complaint and "venv" in complaint and "\n" not in complaint


def test_a_new_python_is_fine():
    assert complain_about_python((3, 11, 0)) == complain_about_python((4, 0, 0)) == ""
