#!/usr/bin/env python3
"""docs_site.py - the documentation as a site of static pages: docs/*.md, the interface of C from
api/orrery.h, that of Python from docstrings, and the notebooks. It opens from disk.

    python3 tools/docs_site.py [--out build/site] [--execute]

Sphinx, MyST and the theme Furo (pip install sphinx myst-parser furo numpy) make the pages; a
warning is an error. The source of the site is a copy below --out, in which a link to a file that is
no page is a download.
Notebooks have the outputs that are stored in them; --execute makes them anew (nbclient, ipykernel).
`make docs-site` calls it.
"""
import argparse
import json
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
PAGES = ["README.md", "HACKING.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md",
         "python/README.md", "bench/results/README.md", "tests/cuda/README.md",
         "findings/README.md"]
GROUPS = {
    "Start": ["install", "recipes", "gallery", "lab", "notebooks", "glossary"],
    "A formula from a table": ["symreg", "python"],
    "A law from tracks": ["motion", "orbit", "tracks"],
    "Train and probe": ["text", "probe", "report", "compare", "models", "gpu", "cluster"],
    "Your own": ["attention", "exchange", "laws", "checkpoints", "library"],
    "Reference": ["programs", "symreg_options", "formats", "reference_python", "reference_c",
                  "equations", "stability", "provenance"],
    "Search and machines": ["symreg_search", "recipe", "reliability", "machines"],
}
STUDY = ["findings", "study", "claims", "verdict", "grids", "text", "context", "variants",
         "adaptation", "symreg_results"]  # pages of study/docs
CONF = """
project = "Orrery"
html_title = "Orrery"
copyright = "2026, The Orrery developers"
extensions = ["myst_parser", "sphinx.ext.autodoc"]
myst_heading_anchors = 4
html_theme = "furo"
html_theme_options = {"navigation_with_keys": True}
html_static_path = ["static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
highlight_language = "none"
pygments_style = "default"
pygments_dark_style = "github-dark"
exclude_patterns = []
autodoc_member_order = "bysource"
autodoc_mock_imports = ["torch"]
autodoc_default_options = {"members": True, "undoc-members": False}


def setup(app):  # docstrings are text, not markup
    def plain(app, what, name, obj, options, lines):
        lines[:] = ["::", "", *("    " + line for line in lines), ""] if lines else []

    app.connect("autodoc-process-docstring", plain)
"""
PYTHON = """# Python interface

```{eval-rst}
.. automodule:: orrery
.. automodule:: orrery.gpt
   :exclude-members: GPT
```
"""


def say(source, name, text):
    path = source / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


# ------------------------------------------------------------------------------------ pages


def tracked():
    """Files of the repository, which are all that the site may link to."""
    out = subprocess.run(["git", "-C", ROOT, "ls-files"], capture_output=True, text=True,
                         check=False).stdout.split("\n")
    return [name for name in out if name and (ROOT / name).is_file()] or [
        str(p.relative_to(ROOT)) for p in ROOT.glob("docs/**/*") if p.is_file()]


def link(page, match, files, pages):
    """A link of a page: pages stay, files become downloads, folders their path as text."""
    text, target, anchor = match.group(1), match.group(2), match.group(3) or ""
    if re.match(r"[a-z]+:", target) or not target:
        return match.group(0)
    path = (page.parent / target).resolve()
    name = str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else ""
    if name in pages:
        return f"[{text}]({target}{anchor})"
    if (path / "README.md").is_file() and f"{name}/README.md" in pages:
        return f"[{text}]({target.rstrip('/')}/README.md{anchor})"
    if name in files:
        return f"[{text}](path:{target})"
    if path.is_dir():
        return f"{text} (`{name or target}`)"
    return match.group(0)  # Sphinx has a warning of it


def copy_pages(source, files):
    pattern = r"(study/)?docs/([\w]+/)?[\w.-]+\.md"
    pages = [n for n in files if n in PAGES or re.fullmatch(pattern, n)]
    for name in pages:  # which grow by the Markdown files that they link to
        for target in re.findall(r"\]\(([^)#\s:]+\.md)[)#]", (ROOT / name).read_text("utf-8")):
            path = ((ROOT / name).parent / target).resolve()
            linked = str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else ""
            if linked in files and linked not in pages:
                pages.append(linked)
    for name in pages:
        page, parts = ROOT / name, []
        for i, piece in enumerate(re.split(r"(^    [^\n]*$|```.*?```)",
                                           page.read_text(encoding="utf-8"),
                                           flags=re.MULTILINE | re.DOTALL)):
            parts.append(piece if i % 2 else re.sub(
                r"(?<!!)\[([^\]]*)\]\(([^)#\s]*)(#[^)\s]*)?\)",
                lambda m: link(page, m, files, pages), piece))
        say(source, name, "".join(parts))
        for target in re.findall(r"\]\((?:path:)?([^)#\s:]+)\)", (source / name).read_text()):
            path = (page.parent / target).resolve()
            inside = path.is_file() and path.is_relative_to(ROOT)
            if inside and str(path.relative_to(ROOT)) not in pages:
                to = source / path.relative_to(ROOT)
                to.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, to)
    return pages


# ---------------------------------------------------------------------------- C's interface


def c_reference():
    """api/orrery.h as a page: parts, what comments say, declarations."""
    text = "\n".join(path.read_text(encoding="utf-8") for path in [
        ROOT / "api/orrery.h", *sorted((ROOT / "api/orrery").glob("*.h"))])
    out = ["# C interface", "",
           "Of `api/orrery.h` and the headers that it includes, which have these comments;",
           "[the guide](library.md).",
           ""]
    pattern = (r"/\*\* @defgroup \w+ (?P<part>[^\n]+)(?P<about>.*?)@\{ \*/"
               r"|/\*\*(?!<) (?P<comment>(?:(?!\*/).)*)\*/\n(?=ORRERY_CALL|struct|enum|typedef)"
               r"|(?P<struct>^(?:struct|enum) \w+ \{.*?^\};|^(?:struct|enum) \w+ \{[^\n]*\};)"
               r"|^ORRERY_CALL (?P<function>.*?;)|(?P<type>^typedef.*?;)")

    def plain(comment):
        text = re.sub(r"\s*\n \* ?", "\n", comment).strip().replace("*", r"\*")
        text = text.replace("_", r"\_")
        text = re.sub(r"\n@param (\S+)", r"\n- \1:", text)
        text = re.sub(r"\n@return", r"\n- returns", text)
        return re.sub(r"\n- ", r"\n\n- ", text, count=1)

    for m in re.finditer(pattern, text, re.DOTALL | re.MULTILINE):
        if m["part"]:
            out += [f"## {m['part']}", "", plain(m["about"]), ""]
        elif m["comment"]:
            out += [plain(m["comment"]), ""]
        else:
            code = m["struct"] or m["function"] or m["type"]
            out += ["```c", code.replace("/**<", "/*"), "```", ""]
    return "\n".join(out)


# -------------------------------------------------------------------------------- notebooks


def output(cell_output, folder, name):
    """An output of a cell in Markdown; pictures are files beside the page."""
    data = cell_output.get("data", {})
    if "image/png" in data:
        import base64

        (folder / name).write_bytes(base64.b64decode("".join(data["image/png"])))
        return f"![output]({name})\n"
    text = cell_output.get("text") or data.get("text/plain") or ""
    text = "".join(text)
    return f"```text\n{text.rstrip()}\n```\n" if text.strip() else ""


def notebook(path, folder):
    found = json.loads(path.read_text(encoding="utf-8"))
    parts = []
    for i, cell in enumerate(found["cells"]):
        text = "".join(cell["source"])
        code = cell["cell_type"] != "markdown"
        parts.append(f"```python\n{text}\n```\n" if code else f"{text}\n")
        for j, o in enumerate(cell.get("outputs", [])):
            parts.append(output(o, folder, f"{path.stem}_{i}_{j}.png"))
    return "\n".join(parts)


def copy_notebooks(source, execute):
    folder = source / "docs/notebooks"
    folder.mkdir(parents=True, exist_ok=True)
    paths = sorted((ROOT / "docs/notebooks").glob("*.ipynb"))
    if execute:
        executed = source.parent / "executed"
        subprocess.run([sys.executable, ROOT / "tools/notebooks.py", *paths, "--to", executed],
                       check=True)
        paths = sorted(executed.glob("*.ipynb"))
    for path in paths:
        (folder / f"{path.stem}.md").write_text(notebook(path, folder), encoding="utf-8")
    return [path.stem for path in paths]


# -------------------------------------------------------------------------------------- site


def toctree(title, names):
    return ["```{toctree}", f":caption: {title}", ":maxdepth: 1", ":hidden:", *names, "```", ""]


def index(pages, notebooks):
    """The landing page: a picture, four doors, and what the sidebar lists."""
    known = {p.removeprefix("docs/").removesuffix(".md") for p in pages if p.startswith("docs/")}
    named = [name for names in GROUPS.values() for name in names]
    rest = sorted(n for n in known if not n.startswith("probes/") and n not in named)
    first = (ROOT / "README.md").read_text(encoding="utf-8").split("\n\n")[1]
    out = ["# Orrery", "", first, "", "```{raw} html",
           (ROOT / "docs/site/index.html").read_text(encoding="utf-8"), "```", "",
           "[Start in two minutes](README.md), look at the [gallery](docs/gallery.md) or at",
           "[a finished report](path:docs/example/report.html).", ""]
    for title, names in GROUPS.items():
        names = [f"docs/{n}" for n in names if n != "notebooks"] if title != "Start" else [
            "In two minutes <README>", *(f"docs/{n}" for n in names if n != "notebooks"),
            *(f"docs/notebooks/{n}" for n in notebooks)]
        out += toctree(title, names)
    out += toctree("Probes", sorted(f"docs/{n}" for n in known if n.startswith("probes/")))
    out += toctree("The study", [f"study/docs/{n}" for n in STUDY])
    if rest:
        out += toctree("More", [f"docs/{n}" for n in rest])
    out += toctree("Project", [p.removesuffix(".md") for p in pages
                             if p != "README.md" and not p.startswith(("docs/", "study/docs/"))])
    return "\n".join(out)


def complete_pages(html):
    """Adds what WCAG AA asks for and Sphinx 9.0 does not write: code and tables that scroll can
    have the focus of the keyboard, and captions of the sidebar have a level."""
    for path in html.rglob("*.html"):
        if "_downloads" in path.parts:
            continue
        text = path.read_text(encoding="utf-8")
        text = text.replace('class="caption" role="heading">',
                            'class="caption" role="heading" aria-level="2">')
        text = text.replace('<div class="table-wrapper', '<div tabindex="0" class="table-wrapper')
        path.write_text(text.replace("<pre>", '<pre tabindex="0">'), encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "build/site")
    parser.add_argument("--execute", action="store_true")
    options = parser.parse_args()
    source = options.out / "source"
    shutil.rmtree(options.out, ignore_errors=True)
    source.mkdir(parents=True)
    pages = copy_pages(source, set(tracked()))
    say(source, "docs/reference_c.md", c_reference())
    say(source, "docs/reference_python.md", PYTHON)
    say(source, "index.md", index(pages, copy_notebooks(source, options.execute)))
    (source / "static").mkdir()
    for path in ["docs/site/site.css", "docs/forces_venus.png"]:
        shutil.copy(ROOT / path, source / "static")
    (source / "docs/example").mkdir(exist_ok=True)
    shutil.copy(ROOT / "docs/example/report.html", source / "docs/example")
    say(source, "conf.py", f"import sys\nsys.path.insert(0, {str(ROOT / 'python')!r})\n" + CONF)
    html = options.out / "html"
    status = subprocess.run([sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b",
                             "html", source, html], check=False).returncode
    if status == 0:
        complete_pages(html)
        print(f"{html}/index.html")
    sys.exit(status)


if __name__ == "__main__":
    main()
