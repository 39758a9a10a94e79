"""The examples in docs/python.md give what the page says."""
import doctest
import pathlib

PAGE = pathlib.Path(__file__).resolve().parents[3] / "docs/python.md"


def test_examples_on_the_page():
    tests = doctest.DocTestParser().get_doctest(
        PAGE.read_text().replace("```", ""), {}, PAGE.name, str(PAGE), 0)
    assert len(tests.examples) > 30
    runner = doctest.DocTestRunner()
    report = []
    runner.run(tests, out=report.append)
    assert runner.summarize(verbose=False).failed == 0, "".join(report)
