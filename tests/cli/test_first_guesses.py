"""First guesses: verbs and flags of other programs, `scorespace.toml`, `doctor FILE`, the matrix in JSON."""

import csv
import shlex

import pytest
from tests.helpers.spreadsheet import write_xlsx

from scorespace.cli.config import EXAMPLE, REFUSED
from scorespace.cli.synonyms import FLAGS, VERBS
from scorespace.cli.verbs import load, verbs

ROLES = "--truth outcome --positive bad"
TREE = f"credit.csv {ROLES} --score tree"
TWO = f"{TREE} --score logistic"
AUC = f"evaluate {TREE} --measures auc"

WORKING = [
    # verbs
    f"eval {TREE}",
    f"score {TREE}",
    f"assess {TREE}",
    f"validate {TREE}",
    f"summary {TREE}",
    f"summarize {TREE}",
    f"report {TREE} --report r.html",
    f"confusion {TREE}",
    f"confusion-matrix {TREE}",
    f"auc {TREE}",
    f"roc {TREE} --out roc.svg",
    f"pr {TREE} --out pr.svg",
    f"lift {TREE} --out lift.svg",
    f"plot {TREE} --out roc.svg",
    f"calibration {TREE} --out c.svg",
    f"reliability {TREE} --out c.svg",
    f"test {TWO}",
    f"delong {TWO}",
    f"diff {TWO}",
    f"mcnemar {TWO}",
    f"bootstrap {TWO}",
    f"youden {TREE}",
    f"roc-auc {TREE}",
    f"smooth-roc {TREE} --out s.svg",
    "evaluate credit.csv --truth outcome --positive bad -s tree -f json",
    f"decide {TREE} --min tpr=0.9 --maximise ppv",
    f"threshold {TREE} --cost-fp 1 --cost-fn 5",
    f"optimize {TREE} --cost-fp 1 --cost-fn 5",
    f"recalibrate {TREE} --out new.csv",
    "metrics",
    "metrics auc",
    "list",
    f"shift credit.csv {TREE}",
    f"monitor credit.csv {TREE}",
    "inspect credit.csv --target outcome",
    "sample-size --auc 0.8 --half-width 0.05 --prevalence 0.3",
    f"misclassified {TREE}",
    "info",
    "example",
    # flags
    f"evaluate {TREE} --metrics auc",
    f"evaluate {TREE} --metric auc",
    f"evaluate {TREE} --measure auc",
    f"evaluate {TREE} --scoring auc",
    "evaluate credit.csv --target outcome --positive bad --score tree",
    "evaluate credit.csv --label outcome --positive bad --score tree",
    "evaluate credit.csv --y-true outcome --positive bad --score tree",
    "evaluate credit.csv --outcome outcome --positive bad --score tree",
    f"evaluate credit.csv {ROLES} --scores tree",
    f"evaluate credit.csv {ROLES} --scores tree,logistic",
    f"evaluate credit.csv {ROLES} --score tree,logistic",
    f"evaluate credit.csv {ROLES} --proba tree",
    f"evaluate credit.csv {ROLES} --y-score tree",
    f"evaluate credit.csv {ROLES} --prob=tree",
    "evaluate credit.csv --truth outcome --pos-label bad --score tree",
    "evaluate credit.csv --truth outcome --positive-class bad --score tree",
    "evaluate credit.csv --truth outcome --pos=bad --score tree",
    f"evaluate --input credit.csv {ROLES} --score tree",
    f"evaluate --data=credit.csv {ROLES} --score tree",
    f'{AUC} --filter "fold <= 5"',
    f'{AUC} --subset "fold <= 5"',
    f"{AUC} --group-by fold",
    f"{AUC} --ci 0.9",
    f"{AUC} --conf-level 0.9",
    f"{AUC} --confidence 0.9",
    f"{AUC} --random-state 1",
    f"evaluate {TREE} --fp-cost 1 --fn-cost 5",
    f"evaluate {TREE} --cost-fp 1 --cost-fn 5 --prior 0.1",
    f"evaluate {TREE} --threshold 0.3",
    f"evaluate {TREE} --cutoff 0.3",
    f"evaluate {TREE} --html r.html",
    f"evaluate {TREE} --output r.html",
    f"evaluate {TREE} -o r.html",
    f"evaluate {TREE} --verbose",
    f"evaluate {TREE} --full",
    f"{AUC} --json",
    f"{AUC} --csv",
    f"{AUC} --markdown",
    f"{AUC} --assert auc>=0.6",
    f"{AUC} --fail-under auc>=0.6",
    f"{AUC} --na drop",
    f"{AUC} --rename tree=Tree",
    f"evaluate {TREE} --domain credit",
    f"curve {TREE} --type roc --out roc.svg",
    f"curve {TREE} --output roc.svg",
    f"compare {TWO} --metric auc",
    f"compare {TWO} --measures auc",
    f"compare {TWO} --correction holm",
    # names of other libraries, with underscores
    f"evaluate {TREE} --measures accuracy_score,roc_auc_score,f1_score,brier_score_loss,matthews_corrcoef",
    "evaluate credit.csv --y_true outcome --pos_label bad --y_score tree --metrics auc",
    f"{AUC} --sample_weight fold",
    f"{AUC} --groupby fold",
    f"{AUC} --ci-level 0.9",
    f"{AUC} --format md",
    f"confusion_matrix {TREE}",
    f"classification_report {TREE}",
    f"roc_curve {TREE} --out r.svg",
    f"plot roc {TREE} --out r.svg",
    f"plot {TREE} --roc --out r.svg",
    f"precision-recall-curve {TREE} --out r.svg",
    f"decision-curve {TREE} --out r.svg",
    f"calibration-curve {TREE} --out r.svg",
    f"gains {TREE} --out r.svg",
    f"curve {TREE} --kind pn --out r.svg",
    f"curve {TREE} --kind dca --out r.svg",
    f"curve {TREE} --save r.svg",
    f"f1 {TREE}",
    f"brier {TREE}",
    f"accuracy {TREE}",
    f"gini {TREE}",
    f"compare_models {TWO}",
    f"compare {TWO} --method delong",
    f"compare {TWO} --bonferroni",
    f"evaluate credit.csv {ROLES} --models tree,logistic --metrics auc",
    f"optimal-threshold {TREE} --fp 1 --fn 5",
    f"decide {TREE} --cost-fp 1/3 --cost-fn 5/3",
    f"decide {TREE} --youden",
    f"decide {TREE} --metric f1",
    f"calibrate {TREE} --method pav",
    f"calibrate {TREE} --isotonic",
    f"calibrate {TREE} --cv 5",
    f"evaluate {TREE} --measures auc --measures acc@0.5",
    f"evaluate {TREE} --measures sens@spec=0.9,tpr@fpr=1/10",
    f"evaluate {TREE} --prevalence 0.05",
    'evaluate --matrix "40 10; 5 45"',
    "help",
    "help evaluate",
    "version",
]

HINTED = [
    (f"evaluate credit.csv {ROLES} --pred tree", ("--score tree", "--decision tree", "--prediction tree")),
    (f"evaluate credit.csv {ROLES} --y-pred tree", ("--score tree", "--decision tree")),
    (f"{AUC} --alpha 0.1", ("--level 0.9", "asym(alpha=0.1)")),
    (f"evaluate {TREE} --slope 2", ("scorespace decide", "--slope 2")),
    (f"{AUC} --alpha=0.01", ("--level 0.99",)),
    (f"{AUC} --bootstrap", ("--interval bootstrap",)),
    (f"{AUC} --n-boot 500", ("2 000",)),
    (f"compare {TWO} --delong", ("--test delong",)),
    (f"{AUC} --sep ;", ("separator",)),
    (f"{AUC} --delimiter=,", ("separator",)),
    (f"evaluate {TREE} --cost 5", ("--cost-fp 1 --cost-fn 5",)),
    (f"evaluate {TREE} --cost-matrix m.csv", ("--costs FILE.csv",)),
    (f"evaluat {TREE}", ("evaluate",)),
    (f"compair {TWO}", ("compare",)),
    (f"evaluate {TREE} --measurs auc", ("--measures",)),
    ("evaluate credit.csv --truht outcome --positive bad --score tree", ("--truth",)),
    (f"evaluate {TREE} --measures aucc", ("did you mean auc?",)),
    ("evaluate credit.csv --positive bad --score tree", ("--truth outcome",)),
    (f"evaluate {TREE} --fpr 0.1", ("--measures tpr@fpr=0.1",)),
    (f"evaluate {TREE} --specificity=0.9", ("--measures tpr@tnr=0.9",)),
    (f"evaluate {TREE} --max-fpr 0.2", ("pauc(fpr_high=0.2)",)),
    (f"evaluate {TREE} --roc", ("scorespace curve",)),
    (f"evaluate {TREE} --plot roc.png", ("scorespace curve",)),
    (f"evaluate {TREE} --confusion-matrix", ("printed anyway",)),
    (f"evaluate {TREE} --average macro", ("f1[macro]",)),
    (f"evaluate {TREE} --n-bins 15", ("ece(bins=15)",)),
    (f"evaluate {TREE} --digits 4", ("--format json",)),
    (f"evaluate {TREE} --format html", ("--report FILE.html",)),
    (f"evaluate {TREE} --task classification", ("--decision",)),
    (f"evaluate {TREE} --quiet", ("standard output",)),
    (f"evaluate {TREE} --n_jobs 4", ("leave it out",)),
    (f"evaluate {TREE} --model logistic", ("--score logistic",)),
    ("evaluate credit.csv outcome tree", ("--truth outcome --score tree",)),
    ("evaluate -t outcome credit.csv", ("--truth outcome",)),
    (f"compare {TWO} --paired", ("leave it out",)),
    (f"decide {TREE} --costs 1,5", ("--cost-fp 1 --cost-fn 5",)),
    (f"decide {TREE} --cost-ratio 7", ("--cost-fn 7",)),
    (f"decide {TREE} --min-recall 0.9", ("--at-least tpr=0.9",)),
    (f"decide {TREE} --sensitivity 0.8", ("--at-least tpr=0.8",)),
    (f"curve {TREE} --show", ("--out FILE.png",)),
    (f"evaluate {TREE} --output r.csv", ("--report FILE.html", "--format csv")),
]


@pytest.mark.parametrize("line", WORKING)
def test_a_first_guess_works(run, credit, line):
    done = run(*shlex.split(line))
    assert (done.code, "Traceback" in done.err) == (0, False), done.err
    assert done.out or " " in done.err  # a picture is named beside the empty output


@pytest.mark.parametrize(("line", "words"), HINTED)
def test_another_first_guess_is_told_the_right_spelling(run, credit, line, words):
    done = run(*shlex.split(line))
    assert (done.code, done.out, "Traceback" in done.err) == (2, "", False)
    for word in words:
        assert word in done.err


def test_first_guesses_are_many():
    assert len({*WORKING, *(line for line, _ in HINTED)}) >= 120


def test_a_translated_command_has_the_same_numbers(run, credit):
    asked = ["--score", "tree", "--score", "logistic", "--measures", "auc,tpr@0.3", "--format", "json"]
    ours = run("evaluate", *credit, *asked).json()
    theirs = "eval credit.csv --target outcome --pos-label bad --scores tree,logistic --metrics auc,tpr@0.3 --json"
    assert run(*theirs.split()).json() == ours


def test_a_threshold_of_another_program_is_that_of_the_decisions(run, credit):
    rows = run("evaluate", *credit, "--score", "tree", "--cutoff", "0.3", "--format", "json").json()["rows"]
    assert {row["measure"]: row["at"] for row in rows if row["at"] is not None} == dict.fromkeys(
        ("tpr", "tnr", "ppv"), 0.3
    )


def test_every_translation_leads_to_a_verb_or_an_option():
    commands = {name: load(verb) for name, verb in verbs().items()}
    flags = {flag for one in commands.values() for parameter in one.params for flag in parameter.opts}
    assert {verb for verb, *_ in VERBS.values()} <= {*commands}
    assert not {*VERBS} & {*commands}
    assert {ours for each in FLAGS.values() for ours in each} <= flags | {"DATA"}


# --- scorespace.toml

FILE_ROLES = 'data = "credit.csv"\ntruth = "outcome"\npositive = "bad"\n'


def test_roles_of_the_file(run, credit, write):
    typed = run("evaluate", *credit, "--score", "tree", "--measures", "auc", "--format", "json")
    write("scorespace.toml", FILE_ROLES + 'score = "tree"\n[evaluate]\nmeasures = ["auc"]\n')
    done = run("evaluate", "--format", "json")
    assert (done.code, done.err) == (0, "using scorespace.toml\n")
    assert done.json() == typed.json()
    other = run("evaluate", "--score", "logistic", "--format", "json").json()  # the command line comes first
    assert [row["model"] for row in other["rows"]] == ["logistic"]
    assert run("curve", "--format", "json").json()["kind"] == "roc"
    assert run("measures", "auc").code == 0


def test_the_example_fails_its_requirement(run, credit, write):
    write("scorespace.toml", EXAMPLE)
    done = run("evaluate")
    assert (done.code, done.err) == (
        1,
        "using scorespace.toml\nrequirement failed: tree auc is 0.723407, not >= 0.75\n",
    )
    assert "rejected" in done.out  # the profile's word
    write("scorespace.toml", EXAMPLE.replace("0.75", "0.7"))
    assert run("evaluate").code == 0
    assert run("compare").code == 0


@pytest.mark.parametrize("key", REFUSED)
@pytest.mark.parametrize("table", ["", "[evaluate]\n"])
def test_keys_that_are_stated_on_the_command_line_only(run, credit, write, key, table, tmp_path):
    write("scorespace.toml", f'{FILE_ROLES}score = ["tree"]\n{table}{key} = "r.html"\n')
    before = sorted(tmp_path.iterdir())
    done = run("evaluate")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"DataError: scorespace.toml sets {key!r}")
    assert f"hint: --{key.replace('_', '-')}\n" in done.err
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (f'{FILE_ROLES}scor = ["tree"]\n', ("'scor'", "did you mean score?")),
        (f"{FILE_ROLES}[evaluat]\nlevel = 0.9\n", ("[evaluat]", "did you mean evaluate?")),
        (f'{FILE_ROLES}score = ["tree"]\nlevel = "high"\n', ("--level",)),
        ("score = [", ("DataError: scorespace.toml cannot be read.",)),
    ],
)
def test_files_that_are_refused(run, credit, write, content, words):
    write("scorespace.toml", content)
    done = run("evaluate")
    assert (done.code, done.out) == (2, "")
    for word in words:
        assert word in done.err


@pytest.mark.parametrize("repository", [True, False])
def test_nothing_is_read_above_the_repository(run, credit, tmp_path, monkeypatch, repository):
    (tmp_path / "scorespace.toml").write_text('truth = "nothing"\n')
    inner = tmp_path / "project" / "inner"
    inner.mkdir(parents=True)
    if repository:
        (tmp_path / "project" / ".git").mkdir()
    monkeypatch.chdir(inner)
    assert run("measures", "auc").err == ""
    (tmp_path / "project" / "scorespace.toml").write_text(FILE_ROLES.replace("credit.csv", "../credit.csv"))
    done = run("evaluate", "--score", "tree", "--measures", "auc")
    assert (done.code, done.err == "using scorespace.toml\n") == ((0, True) if repository else (2, False))


# --- doctor FILE


@pytest.mark.parametrize("words", [["doctor", "credit.csv"], ["credit.csv"]])
def test_roles_are_proposed_for_a_file(run, credit, words):
    found = run(*words, "--format", "json").json()
    assert {row["column"]: row["role"] for row in found["rows"]} == {
        "id": "",
        "fold": "fold",
        "outcome": "truth",
        "naive_bayes": "score",
        "tree": "score",
        "logistic": "score",
    }
    assert found["roles"]["positive"] == ["bad"]
    assert f"next    {found['command']}\n" in run(*words, columns=300).out


def test_a_guess_is_the_proposed_command(run, credit):
    command = run("doctor", "credit.csv", "--format", "json").json()["command"]
    typed = run(*shlex.split(command)[1:], "--format", "json")
    guessed = run("credit.csv", "--guess", "--format", "json")
    assert (guessed.code, guessed.err) == (0, f"{command}\n")
    assert guessed.json() == typed.json()


def test_a_file_without_a_model_is_not_guessed(run, write):
    write("odd.csv", "a,b\n1.5,x1\n2.5,x2\n3.5,x3\n")
    assert run("odd.csv").code == 0
    assert run("odd.csv", "--format", "json").json()["command"] is None
    done = run("odd.csv", "--guess")
    assert (done.code, done.out) == (2, "")
    assert "hint: scorespace evaluate odd.csv --truth COL" in done.err
    assert run("doctor", "absent.csv").code == 2


# --- the matrix in JSON


def loans(tmp_path):
    with (tmp_path / "credit.csv").open() as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("at", [0.5, 0.3])
def test_the_matrix_of_each_score_is_counted_by_hand(run, credit, tmp_path, at):
    asked = ["--score", "tree", "--score", "logistic", "--at", str(at)]
    found = run("evaluate", *credit, *asked, "--format", "json").json()["confusion"]
    assert [one["model"] for one in found] == ["tree", "logistic"]
    for one in found:
        pairs = [(loan["outcome"], float(loan[one["model"]]) >= at) for loan in loans(tmp_path)]
        rows = [[pairs.count((name, True)), pairs.count((name, False))] for name in ("bad", "good")]
        assert (one["classes"], one["threshold"], one["matrix"]) == (["bad", "good"], at, rows)
        assert one["shares"] == [pytest.approx([cell / sum(row) for cell in row]) for row in rows]


def test_the_matrix_of_three_classes(run, write):
    write("three.csv", "y,d\na,a\na,a\na,b\nb,b\nb,c\nc,a\nc,c\nc,c\nc,c\n")
    (one,) = run("evaluate", "three.csv", "--truth", "y", "--decision", "d", "--format", "json").json()["confusion"]
    assert (one["classes"], one["threshold"]) == (["a", "b", "c"], None)
    assert one["matrix"] == [[2, 1, 0], [0, 1, 1], [1, 0, 3]]


def test_conclusions_in_json(run, credit):
    asked = ["--score", "tree", "--score", "naive_bayes", "--format", "json"]
    (one,) = run("evaluate", *credit, *asked).json()["conclusions"]
    assert one == {"measure": "auc", "label": "AUC", "models": ["naive_bayes", "tree"], "clear": True}
    two = run("evaluate", *credit, *asked, "--measures", "brier,auc").json()["conclusions"]
    assert [(each["measure"], each["clear"]) for each in two] == [("brier", True), ("auc", True)]


# --- files


def test_a_missing_file_where_a_verb_is_expected(run, credit):
    done = run("credt.csv")
    assert (done.code, done.out) == (2, "")
    assert "file 'credt.csv' does not exist" in done.err
    assert "did you mean 'credit.csv'?" in done.err


def test_the_proposed_command_says_how_the_file_is_read(run, write):
    write("bare.csv", "1,0.9\n0,0.2\n1,0.7\n0,0.4\n1,0.3\n")
    assert "hint: --no-header" in run("bare.csv").err
    command = run("bare.csv", "--no-header", "--format", "json").json()["command"]
    assert command.endswith("--positive 1 --no-header")
    asked = ["--measures", "auc", "--format", "json"]
    assert run(*shlex.split(command)[1:], *asked).json()["rows"][0]["value"] == pytest.approx(5 / 6)  # 5 of 6 pairs


def test_a_sheet_is_stated_for_every_verb(run, tmp_path):
    rows = [["y", "s"], ["yes", 0.9], ["no", 0.2], ["yes", 0.7], ["no", 0.4], ["yes", 0.3]]
    write_xlsx(tmp_path / "book.xlsx", {"about": [["by", "hand"]], "data": rows})
    roles = ["--truth", "y", "--positive", "yes", "--score", "s", "--sheet"]
    found = run("evaluate", "book.xlsx", *roles, "data", "--measures", "auc", "--format", "json").json()
    assert found["rows"][0]["value"] == pytest.approx(5 / 6)
    assert run("curve", "book.xlsx", *roles, "2", "--format", "json").code == 0
    assert "sheets 'about', 'data'" in run("evaluate", "book.xlsx", *roles, "daten").err


# --- what has one meaning


def test_precision_at_a_stated_prevalence(run, credit):
    asked = ["--score", "tree", "--prevalence", "1/20", "--measures", "ppv@0.5", "--format", "json"]
    (row,) = run("evaluate", *credit, *asked).json()["rows"]
    sensitivity, false_positives = 138 / 300, 149 / 700  # Bayes' theorem on the matrix at 0.5
    share = 0.05 * sensitivity / (0.05 * sensitivity + 0.95 * false_positives)
    assert row["value"] == pytest.approx(share)
    text = " ".join(run("evaluate", *credit, "--score", "tree", "--prevalence", "0.05").out.split())
    assert text.count(f"precision {share:.3f}") == 1  # the verdict agrees with the table


def test_matrices_without_a_name(run, write):
    (row,) = run("evaluate", "--matrix", "40 10; 5 45", "--measures", "acc", "--format", "json").json()["rows"]
    assert (row["model"], row["value"]) == ("matrix", 0.85)
    write("m.csv", ";a;b\na;40;10\nb;5;45\n")
    asked = ["--positive", "a", "--measures", "acc", "--format", "json"]
    (row,) = run("evaluate", "--matrix", "m.csv", *asked).json()["rows"]
    assert (row["model"], row["value"]) == ("m", 0.85)
    done = run("evaluate", "--matrix", "1 2; 3 4", "--matrix", "5 6; 7 8")
    assert "hint: a name for each: --matrix A='5 6; 7 8'" in done.err


def test_columns_named_after_classes_are_one_model(run, write):
    write("k.csv", "y,p_a,p_b,p_c\na,0.8,0.1,0.1\nb,0.1,0.8,0.1\nc,0.1,0.1,0.8\nb,0.5,0.3,0.2\n")
    asked = ["--truth", "y", "--measures", "acc", "--format", "json"]
    (row,) = run("evaluate", "k.csv", "--score", "p_a,p_b,p_c", *asked).json()["rows"]
    assert (row["model"], row["value"]) == ("p", 0.75)
    (pattern,) = run("evaluate", "k.csv", "--score", "p_*", *asked).json()["rows"]
    assert pattern["value"] == row["value"]


def test_a_rater_of_one_column(run, write):
    write("r.csv", "ann,bob\n" + "yes,yes\nno,no\nyes,no\n" * 10)
    named = run("agree", "r.csv", "--rater", "ann=ann", "--rater", "bob=bob", "--format", "json").json()
    assert run("agree", "r.csv", "--rater", "ann", "--rater", "bob", "--format", "json").json() == named
