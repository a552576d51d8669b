"""Print the names of the facts whose answers have changed since the model that ships was trained: train.py --focus
asks about them more often. The facts of then are those of the commit that last changed the model."""
import os
import subprocess
import tempfile

from text import known

HERE = os.path.dirname(os.path.abspath(__file__))
MODEL = "registry/starter/quince-starter.gguf"


def git(*args):
    done = subprocess.run(["git", "-C", HERE, *args], capture_output=True, text=True)
    return done.stdout if done.returncode == 0 else ""


def facts_of_the_model():
    """The facts that the model in the repository was trained on; none where they are not known."""
    commit = git("log", "-1", "--format=%H", "--", ":/" + MODEL).strip()
    text = commit and git("show", f"{commit}:scripts/train/llm/text/quince_facts.txt")
    if not text:
        return {}
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as f:
        f.write(text)
        f.flush()
        return known.read(f.name)


def main():
    old = facts_of_the_model()
    for name, fact in known.read().items():
        if old.get(name, {}).get("say") != fact["say"]:
            print(name)


if __name__ == "__main__":
    main()
