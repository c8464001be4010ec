import pytest

from dragoman.io.keyfile import KeyFileError, load_key


def key_file(tmp_path, content, mode=0o600):
    path = tmp_path / "key"
    path.write_bytes(content)
    path.chmod(mode)
    return path


def test_key_is_derived_and_always_the_same(tmp_path):
    path = key_file(tmp_path, b"0123456789abcdef0123456789abcdef")
    assert load_key(path).hex() == "1109d301d946bfd1091c05affdfbb75675287eadbc604a5f247259c8f1e22260"
    assert load_key(str(path)) == load_key(path)


@pytest.mark.parametrize("content", [bytes(32), b"x" * 33, b"\xff\n" * 4096])
def test_any_32_or_more_bytes_make_a_key_of_32(tmp_path, content):
    assert len(load_key(key_file(tmp_path, content))) == 32


def test_every_byte_counts(tmp_path):
    first = load_key(key_file(tmp_path, b"x" * 64))
    assert load_key(key_file(tmp_path, b"x" * 64 + b"\n")) != first


@pytest.mark.parametrize("mode", [0o600, 0o400])
def test_file_of_its_owner_alone_is_read(tmp_path, mode):
    assert len(load_key(key_file(tmp_path, b"x" * 64, mode))) == 32


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o644, 0o660, 0o602])
def test_file_that_others_can_reach_is_refused(tmp_path, mode):
    path = key_file(tmp_path, b"x" * 64, mode)
    with pytest.raises(KeyFileError) as fault:
        load_key(path)
    assert str(fault.value) == f"the state key file {path} is open to other users (mode {mode:04o}): run chmod 600 on it"


def test_short_file_is_refused(tmp_path):
    path = key_file(tmp_path, b"x" * 31)
    with pytest.raises(KeyFileError) as fault:
        load_key(path)
    assert str(fault.value) == f"the state key file {path} has 31 bytes, at least 32 are needed (try openssl rand -hex 32)"


def test_everything_that_is_wrong_is_told_at_once(tmp_path):
    path = key_file(tmp_path, b"", 0o644)
    with pytest.raises(KeyFileError) as fault:
        load_key(path)
    assert str(fault.value) == (
        f"the state key file {path} is open to other users (mode 0644): run chmod 600 on it, "
        "and it has 0 bytes, at least 32 are needed (try openssl rand -hex 32)"
    )


def test_huge_file_is_refused(tmp_path):
    with pytest.raises(KeyFileError, match="is larger than 1048576 bytes"):
        load_key(key_file(tmp_path, bytes((1 << 20) + 1)))


def test_missing_file_is_refused(tmp_path):
    with pytest.raises(KeyFileError) as fault:
        load_key(tmp_path / "none")
    path = tmp_path / "none"
    assert str(fault.value) == f"there is no state key file {path}; to make one: (umask 077; openssl rand -hex 32 > {path})"


def test_directory_is_refused(tmp_path):
    with pytest.raises(KeyFileError, match="Is a directory"):
        load_key(tmp_path)
