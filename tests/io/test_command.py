"""Finding programs: the right one, or the reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from dragoman.io.command import CannotStart, find


@pytest.fixture
def program(tmp_path: Path):
    def make(name: str, mode: int = 0o755) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("#!/bin/sh\n")
        path.chmod(mode)
        return path

    return make


def reason(name: str, cwd: str | None, path: str) -> str:
    with pytest.raises(CannotStart) as caught:
        find(name, cwd, {"PATH": path})
    return str(caught.value)


def test_name_is_looked_up_in_path_in_order(program, tmp_path: Path):
    program("b/server")
    first = program("a/server")
    assert find("server", None, {"PATH": f"{tmp_path}/none:{tmp_path}/a:{tmp_path}/b"}) == str(first)


def test_file_in_path_that_is_not_executable_is_passed_over(program, tmp_path: Path):
    program("a/server", 0o644)
    second = program("b/server")
    assert find("server", None, {"PATH": f"{tmp_path}/a:{tmp_path}/b"}) == str(second)


def test_relative_path_is_relative_to_the_working_directory(program, tmp_path: Path):
    path = program("there/server")
    assert find("./there/server", str(tmp_path), {"PATH": ""}) == f"{tmp_path}/./there/server"
    assert find(str(path), None, {"PATH": ""}) == str(path)


def test_unknown_name_is_not_found(tmp_path: Path):
    assert reason("server", None, str(tmp_path)) == "command not found: server"


def test_unknown_name_that_lies_in_the_working_directory_gets_a_hint(program, tmp_path: Path):
    program("server")
    assert reason("server", str(tmp_path), "/nowhere") == "command not found: server (did you mean ./server?)"


def test_hint_names_only_what_can_be_run(program, tmp_path: Path):
    program("server.py", 0o644)
    told = "command not found: server.py (the file server.py is not executable: name its interpreter before it)"
    assert reason("server.py", str(tmp_path), "/nowhere") == told


def test_whole_command_line_in_one_word_is_told_without_its_arguments(program, tmp_path: Path):
    program("a/npx")
    told = "command not found: 'npx' and its arguments are one word: give each argument as a word of its own"
    assert reason("npx -y server --token=secret", None, str(tmp_path / "a")) == told
    program("npx")
    told = "command not found: './npx' and its arguments are one word: give each argument as a word of its own"
    assert reason("./npx -y server", str(tmp_path), "/nowhere") == told


def test_name_with_a_space_is_found_if_it_is_there_and_named_in_full_if_not(program, tmp_path: Path):
    path = program("my server")
    assert find("my server", None, {"PATH": str(tmp_path)}) == str(path)
    assert reason("his server", None, str(tmp_path)) == "command not found: his server"


def test_unknown_path_is_not_found(tmp_path: Path):
    assert reason("./server", str(tmp_path), "/bin") == "command not found: ./server"


def test_file_without_execute_permission_is_named(program, tmp_path: Path):
    path = program("server", 0o644)
    told = " is not executable: run chmod +x on it, or name its interpreter before it"
    assert reason("./server", str(tmp_path), "/bin") == f"./server{told}"
    assert reason("server", None, str(tmp_path)) == f"{path}{told}"


def test_directory_is_no_program(tmp_path: Path):
    (tmp_path / "server").mkdir()
    assert reason("./server", str(tmp_path), "/bin") == "./server is a directory, not a program"


def test_working_directory_that_does_not_exist_is_named():
    assert reason("sh", "/no/such/place", "/bin") == "the working directory /no/such/place (--cwd) does not exist"


def test_working_directory_that_is_a_file_is_named(program, tmp_path: Path):
    path = program("file")
    assert reason("sh", str(path), "/bin") == f"the working directory {path} (--cwd) is a file, not a directory"


def test_empty_command_is_refused():
    assert reason("", None, "/bin") == "the command is empty"
