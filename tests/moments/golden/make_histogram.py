"""How the golden file of a score histogram was made: scores of few rows, saved once.

A golden file is never written again: every later version must read it, which
`test_histogram_file.py` checks against the definition of the bins. The script refuses to overwrite.
"""

from pathlib import Path

from directrix.moments import ScoreHistogram

FILE = Path(__file__).parent / "v1.histogram"
LABELS = ["größer", "ja", "ja", "größer", "größer", "ja", "ja", "größer", "ja"]
SCORES = [0.25, 0.25, -3.5, 1e300, -0.0, 1e-12, 40.125, -7.0, -1e9]
WEIGHT = [1.0, 2.0, 0.5, 1.0, 3.0, 1.0, 1.0, 0.25, 1.0]
CENTER, SCALE, MODEL = 0.25, 2.0, 'card "3" of May'


def main():
    """Write the file, unless there is one."""
    if FILE.exists():
        msg = f"golden files are never written again, and there is {FILE.name}"
        raise SystemExit(msg)
    ScoreHistogram.of_scores(LABELS, SCORES, WEIGHT, center=CENTER, scale=SCALE, model=MODEL).save(
        FILE
    )


if __name__ == "__main__":
    main()
