"""A real OpenSSH server for tests: with keys made for the test, reached without a port through `ProxyCommand`.

Each connection starts an `sshd -i` of its own, on the pipes of the client's proxy command, so that no port is taken and
nothing stays when the connection ends.
"""

import getpass
import os
import shutil
import subprocess
from pathlib import Path

import psutil

from tests.helpers.engine_stub import LOADED_WITH

SERVER = shutil.which("sshd") or ("/usr/sbin/sshd" if os.path.exists("/usr/sbin/sshd") else "")
PRIVILEGES = Path("/run/sshd")


def why_not() -> str:
    """Why there is no server here; "" where there is one."""
    if not SERVER:
        return "no OpenSSH server is installed (openssh-server)"
    if not shutil.which("ssh") or not shutil.which("ssh-keygen"):
        return "no OpenSSH client is installed (openssh-client)"
    if os.name == "posix" and os.geteuid() == 0 and not PRIVILEGES.is_dir():
        try:
            PRIVILEGES.mkdir()
        except OSError:
            return f"there is no {PRIVILEGES}, which sshd asks for"
    return ""


class SshServer:
    """Keys, configuration of both ends, and an `ssh` that takes them.

    Attributes:
        programs: a folder with an `ssh` that knows the destination `far`; it belongs in front of `PATH`.
        destination: as a person names it.
    """

    def __init__(self, folder: Path, through: str = "") -> None:
        """Make everything in a folder; `through` is a command that stands between, ``{server}`` in it the server's."""
        self.folder, self.programs = folder, folder / "bin"
        self.programs.mkdir(parents=True)
        self.destination = "far"
        for name in ("host", "person"):
            self._key(name)
        self.authorized, self.known = folder / "authorized_keys", folder / "known_hosts"
        shutil.copy(folder / "person.pub", self.authorized)
        self.known.write_text(f"far {(folder / 'host.pub').read_text()}")
        (folder / "sshd_config").write_text(
            f"HostKey {folder / 'host'}\nAuthorizedKeysFile {self.authorized}\nStrictModes no\nUsePAM no\n"
            "PasswordAuthentication no\nKbdInteractiveAuthentication no\nPermitRootLogin yes\nLogLevel QUIET\n"
            f"PidFile none\nSetEnv XDG_CACHE_HOME={folder / 'cache'}{_pythons()}\n"
        )
        server = f"{SERVER} -i -f {folder / 'sshd_config'}"
        (folder / "ssh_config").write_text(
            f"Host far\n  User {getpass.getuser()}\n  IdentityFile {folder / 'person'}\n  IdentitiesOnly yes\n"
            f"  IdentityAgent none\n  UserKnownHostsFile {self.known}\n  GlobalKnownHostsFile /dev/null\n"
            f"  ProxyCommand {through.replace('{server}', server) or server}\n"
            "Host nowhere\n  HostName nowhere.invalid\nHost closed\n  HostName 127.0.0.1\n  Port 1\n"
        )
        program = self.programs / "ssh"
        program.write_text(f'#!/bin/sh\nexec {shutil.which("ssh")} -F {folder / "ssh_config"} "$@"\n')
        program.chmod(0o700)

    def _key(self, name: str) -> None:
        command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", str(self.folder / name)]
        subprocess.run(command, check=True, capture_output=True)


def _pythons() -> str:
    """What Pythons here are taught and load torch with is for those behind the server, too."""
    names = [name for name in os.environ if name.startswith(("PYTHONPATH", *LOADED_WITH))]
    return "".join(f" {name}={os.environ[name]}" for name in names)


def servers_of(client: int) -> list[int]:
    """The processes of the server that serve this `ssh`, which it has started as its proxy command."""
    below = psutil.Process(client).children(recursive=True)
    return [process.pid for process in below if process.name().startswith("sshd")]
