"""Certificates that openssl makes for the tests."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import grpc
import pytest

needs_openssl = pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is missing")


def openssl(at: Path, *arguments: str) -> None:
    subprocess.run(["openssl", *arguments], cwd=at, check=True, capture_output=True, timeout=60)


def key_pair(
    at: Path, name: str, authority: str | None, alternative: str | None = "IP:127.0.0.1"
) -> None:
    """NAME.key and NAME.pem with an alternative name, signed by an authority or self-signed."""
    subject = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj",
               f"/CN={name}", "-keyout", f"{name}.key"]  # fmt: skip
    if authority is None:
        openssl(at, "req", "-x509", *subject, "-out", f"{name}.pem")
        return
    openssl(at, "req", "-new", *subject, "-out", f"{name}.csr")
    signer = ["-CA", f"{authority}.pem", "-CAkey", f"{authority}.key", "-CAcreateserial"]
    extensions = list[str]()
    if alternative is not None:
        (at / "extensions").write_text(f"subjectAltName={alternative}\n")
        extensions = ["-extfile", "extensions"]
    openssl(at, "x509", "-req", "-in", f"{name}.csr", *signer, *extensions, "-out", f"{name}.pem")


def credentials(at: Path, name: str, authority: str = "authority") -> grpc.ChannelCredentials:
    """What a client with the certificate `name` connects with."""
    files = (f"{authority}.pem", f"{name}.key", f"{name}.pem")
    return grpc.ssl_channel_credentials(*((at / file).read_bytes() for file in files))
