# SPDX-License-Identifier: Apache-2.0
"""Certificates: judged as `caucus join` judges them, and read again when they have been renewed."""

from __future__ import annotations

import logging
import shutil
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import caucus_dp as caucus
from caucus_dp import _certificate
from conftest import PATIENCE, Federation, Files, Program, played, reference

FOR_CLIENTS = "extendedKeyUsage=clientAuth"
FOR_SERVERS = "extendedKeyUsage=serverAuth\nsubjectAltName=IP:127.0.0.1"


def openssl(*words: object) -> None:
    """Run it; it must do what was asked."""
    done = subprocess.run(["openssl", *map(str, words)], capture_output=True, text=True, check=False, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr


class Authority:
    """A certificate authority of openssl's; with days below 0 its own certificate has expired."""

    def __init__(self, folder: Path, days: int = 2) -> None:
        folder.mkdir()
        self.folder, self.pem = folder, folder / "ca.pem"
        self._request("ca", "/CN=a test")
        extensions = self._extensions("ca", "basicConstraints=critical,CA:TRUE\nkeyUsage=keyCertSign")
        openssl("x509", "-req", "-in", folder / "ca.csr", "-signkey", folder / "ca.key", "-days", days, *extensions)

    def _request(self, name: str, subject: str) -> None:
        key, out = self.folder / f"{name}.key", self.folder / f"{name}.csr"
        curve = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")
        openssl("req", "-new", *curve, "-keyout", key, "-out", out, "-subj", subject)
        key.chmod(0o600)

    def _extensions(self, name: str, text: str) -> tuple[str | Path, ...]:
        file = self.folder / f"{name}.ext"
        file.write_text(f"{text}\n")
        return "-extfile", file, "-out", self.folder / f"{name}.pem"

    def issue(self, name: str, common_name: str, extensions: str, days: int = 2) -> tuple[Path, Path]:
        """A certificate and its key."""
        self._request(name, f"/CN={common_name}")
        request, words = self.folder / f"{name}.csr", self._extensions(name, f"basicConstraints=CA:FALSE\n{extensions}")
        signer = ("-CA", self.pem, "-CAkey", self.folder / "ca.key", "-CAcreateserial")
        openssl("x509", "-req", "-in", request, *signer, "-days", days, *words)
        return self.folder / f"{name}.pem", self.folder / f"{name}.key"


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    """One that is in force."""
    return Authority(tmp_path / "authority")


def test_what_a_certificate_says(authority: Authority) -> None:
    """Whose it is, what it is for, when it ends: as openssl tells it."""
    pem, _ = authority.issue("7", "7", "extendedKeyUsage=clientAuth,emailProtection", days=3)
    (own,) = _certificate.read_pem(pem.read_text())
    (ca,) = _certificate.read_pem(authority.pem.read_text())
    assert own.index == 7
    assert _certificate.CLIENT in own.uses
    assert _certificate.SERVER not in own.uses
    assert len(own.uses) == 2
    assert own.ends - own.begins == 3 * 86400
    assert own.warn_from == own.ends - 86400
    out = subprocess.run(["openssl", "x509", "-in", str(pem), "-noout", "-enddate"], capture_output=True, check=True)
    assert own.ends == ssl.cert_time_to_seconds(out.stdout.decode().strip().split("=")[1])
    assert (own.issuer, ca.uses, ca.index) == (ca.subject, frozenset(), 0)
    assert _certificate.chain_of(own, [own, ca]) == [own, ca]
    assert _certificate.chain_of(own, []) == [own]
    for name in ("07", "0", "123456789", "7x", "coordinator"):
        (other,) = _certificate.read_pem(authority.issue("other", name, FOR_CLIENTS)[0].read_text())
        assert other.index == 0


def test_what_is_no_certificate(authority: Authority) -> None:
    """Every beginning of one is refused. One whose bytes were changed is refused, or read: nothing else happens."""
    pem, _ = authority.issue("1", "1", FOR_CLIENTS)
    der = ssl.PEM_cert_to_DER_cert(pem.read_text())
    for end in range(len(der)):
        with pytest.raises(ValueError, match=r"."):
            _certificate.read_der(der[:end])
    draws = np.random.default_rng(3)
    for _ in range(2000):
        spoilt = bytearray(der)
        spoilt[int(draws.integers(len(der)))] ^= int(draws.integers(1, 256))
        try:
            _certificate.read_der(bytes(spoilt))
        except ValueError:
            continue


def bad_files(authority: Authority, folder: Path) -> Iterator[tuple[Path, Path, Path]]:
    """Certificates, keys and authorities that cannot be used."""
    cert, key = authority.issue("1", "1", FOR_CLIENTS)
    _, other = authority.issue("2", "2", FOR_CLIENTS)
    none, garbage, shown = folder / "none", folder / "garbage.pem", folder / "shown.key"
    garbage.write_text("no certificate, and no key\n")
    garbage.chmod(0o600)
    shutil.copy(key, shown)
    shown.chmod(0o644)
    for name, usage in (("server", FOR_SERVERS), ("silent", "keyUsage=digitalSignature")):
        yield *authority.issue(name, "1", usage), authority.pem
    yield *authority.issue("named", "small", FOR_CLIENTS), authority.pem
    yield cert, other, authority.pem
    yield cert, shown, authority.pem
    for bad in (none, garbage, folder):
        yield bad, key, authority.pem
        yield cert, bad, authority.pem
        yield cert, key, bad


def test_files_are_refused_in_the_program_s_words(
    program: Program, plan: caucus.Plan, authority: Authority, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each with the line that `caucus join` has for it, and its kind."""
    plan.write(tmp_path / "plan.yaml")
    monkeypatch.chdir(tmp_path)  # long paths are cut by the program
    count = 0
    for files in bad_files(authority, tmp_path):
        cert, key, ca = (file.relative_to(tmp_path) for file in files)
        words = ["join", "--connect", "127.0.0.1:1", "--plan", "plan.yaml", "--give-up", "0"]
        out = program(*words, "--cert", str(cert), "--key", str(key), "--ca", str(ca))
        assert out.returncode == 2, out.stderr
        with pytest.raises(caucus.InputError) as caught:
            caucus.join("127.0.0.1:1", plan=plan, cert=cert, key=key, ca=ca)
        assert out.stderr.splitlines()[-1] == f"caucus join: --{caught.value}"
        assert str(caught.value).startswith(f"{caught.value.field} ")
        count += 1
    assert count == 14


def test_the_certificate_says_who_it_is(plan: caucus.Plan, authority: Authority) -> None:
    """A number need not be given; another one is refused."""
    cert, key = authority.issue("2", "2", FOR_CLIENTS)
    with caucus.join("127.0.0.1:1", plan=plan, cert=cert, key=key, ca=authority.pem, seed=1) as member:
        assert member.index == 2
    with pytest.raises(caucus.InputError, match=r"client 1: the certificate .*2\.pem is that of client 2"):
        caucus.join("127.0.0.1:1", plan=plan, client=1, cert=cert, key=key, ca=authority.pem)
    with pytest.raises(caucus.InputError, match="client is needed with insecure: no certificate says who this is"):
        caucus.join("127.0.0.1:1", plan=plan, insecure=True)


def test_it_says_when_it_ends(plan: caucus.Plan, authority: Authority, caplog: pytest.LogCaptureFixture) -> None:
    """In the last third of its life; this one has none left."""
    cert, key = authority.issue("1", "1", FOR_CLIENTS, days=-1)
    caucus.join("127.0.0.1:1", plan=plan, cert=cert, key=key, ca=authority.pem).leave()
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert caplog.messages[0].startswith("this client's certificate expires 20")
    assert caplog.messages[0].endswith("Z: renew it")


@pytest.mark.parametrize("extensions", ["subjectAltName=IP:127.0.0.1", FOR_SERVERS], ids=["silent", "for servers"])
def test_a_coordinator_s_certificate_must_be_a_server_s(
    plan: caucus.Plan, authority: Authority, extensions: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Of one whose certificate does not say so the client tells nothing: not even its own certificate is sent."""
    cert, key = authority.issue("coordinator", "coordinator", extensions)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(cert, key)
    context.load_verify_locations(authority.pem)
    context.verify_mode = ssl.CERT_REQUIRED
    listener = socket.create_server(("127.0.0.1", 0))
    listener.settimeout(PATIENCE)
    shaken: list[bool] = []

    def serve() -> None:
        try:
            with context.wrap_socket(listener.accept()[0], server_side=True) as peer:
                shaken.append(peer.getpeercert() is not None)
        except OSError:
            shaken.append(False)

    server = threading.Thread(target=serve)
    server.start()
    own, own_key = authority.issue("1", "1", FOR_CLIENTS)
    address = "{}:{}".format(*listener.getsockname())
    with caucus.join(address, plan=plan, cert=own, key=own_key, ca=authority.pem) as member:
        until(lambda: member._next() is None and bool(caplog.messages), member)
    server.join()
    listener.close()
    if extensions == FOR_SERVERS:
        assert shaken == [True]
    else:
        assert shaken == [False]
        assert "its extended key usage must contain serverAuth" in caplog.messages[0]


def until(true: Callable[[], bool], member: caucus.Member) -> None:
    """Let a client work, without a round to play, until something is true."""
    end = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < end
        member._dial_or_wait(0.01)


def test_expired_by_the_coordinator_s_clock_alone_it_comes_again_and_a_renewed_one_is_used(
    program: Program,
    plan: caucus.Plan,
    losses: NDArray[np.float64],
    authority: Authority,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """The coordinator calls a certificate expired that is none by the device's clock: no reason to end for good.

    What it sees is an authority that has expired; the client does not know of it. Files that were renewed meanwhile are
    used with the next connection, and the run is the undisturbed one.
    """
    old = Authority(tmp_path / "old", days=-1)
    both = tmp_path / "both.pem"
    both.write_text(old.pem.read_text() + authority.pem.read_text())
    file = tmp_path / "losses.npy"
    np.save(file, losses)
    caplog.set_level(logging.INFO, "caucus_dp")
    federation = Federation(program, tmp_path / "federation", plan, seed=3, client_ca=both)
    try:
        others = [federation.program_client(i, file) for i in (2, 3)]
        cert, key = old.issue("mine", "1", FOR_CLIENTS)
        files: Files = {"cert": str(cert), "key": str(key), "ca": str(federation.certs / "ca.pem")}
        experts: list[int] = []
        with caucus.join(federation.address, plan=plan, client=1, seed=3, **files) as member:
            said = "it does not accept this client's certificate: "
            until(lambda: member._next() is None and said in caplog.text, member)
            assert "expired — trying again in" in caplog.text
            stranger, stranger_key = authority.issue("stranger", "2", FOR_CLIENTS)
            put((stranger, stranger_key), (cert, key))
            until(lambda: member._next() is None and "is another client's now" in caplog.text, member)
            assert "what was read before stays in use" in caplog.text
            put(authority.issue("renewed", "1", FOR_CLIENTS), (cert, key))
            for round in member:
                experts.append(round.expert)
                round.observe(losses[0, round.number - 1])
        assert "certificates were read again" in caplog.text
        assert experts == reference(plan, losses, 3)
        assert [played(process) for process in others] == [experts, experts]
    finally:
        federation.close()


def put(new: tuple[Path, Path], at: tuple[Path, Path]) -> None:
    """Renew: the key first, then the certificate, each whole. Between the two they do not belong together."""
    for source, target in reversed(list(zip(new, at, strict=True))):
        fresh = target.with_suffix(".new")
        shutil.copy(source, fresh)
        fresh.replace(target)


def test_expired_by_both_clocks_is_final(federation: Federation, plan: caucus.Plan, tmp_path: Path) -> None:
    """The owner has to see to it."""
    old = Authority(tmp_path / "old", days=-1)
    both = tmp_path / "both.pem"
    shutil.copy(old.pem, both)
    strict = Federation(federation.program, tmp_path / "strict", plan, seed=3, client_ca=both)
    cert, key = old.issue("mine", "1", FOR_CLIENTS, days=-1)
    try:
        with (
            caucus.join(
                strict.address, plan=plan, cert=cert, key=key, ca=strict.certs / "ca.pem", give_up=PATIENCE
            ) as member,
            pytest.raises(caucus.RefusedError, match=r"it does not accept this client's certificate: .*expired") as why,
        ):
            next(member)
        assert isinstance(why.value.__cause__, ssl.SSLError)
    finally:
        strict.close()
