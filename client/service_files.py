"""Texts that make a system start the client by itself."""

from __future__ import annotations

import getpass
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple
from xml.sax.saxutils import escape

from zermelo.client.folder import ClientFolder

#: Under which a client runs that root configured.
ACCOUNT = "zermelo"


class ServiceFile(NamedTuple):
    text: str
    #: What to do with the text.
    advice: str


def systemd_user(command: str, data_dir: Path) -> ServiceFile:
    return ServiceFile(
        f"""\
[Unit]
Description=Zermelo client: solves games while this computer has time

[Service]
ExecStart={_run(command, data_dir)}
# Only the daemon hears of a stop; it sees to its workers.
KillMode=mixed
TimeoutStopSec=60
Restart=on-failure
RestartSec=60
# Neither a wrong configuration nor a refusal by the server mends itself.
RestartPreventExitStatus=2 6

[Install]
WantedBy=default.target
""",
        "save it as ~/.config/systemd/user/zermelo-client.service, then "
        "`systemctl --user enable --now zermelo-client`; "
        "`loginctl enable-linger` keeps it running while you are logged out",
    )


def systemd_system(command: str, data_dir: Path, account: str = "") -> ServiceFile:
    """For an account that owns the client's folder: that of who configured it, or one of its
    own where that was root."""
    account = account or _owner(data_dir)
    made = account == ACCOUNT
    folder = ClientFolder(data_dir).path
    advice = (
        "save it as /etc/systemd/system/zermelo-client.service, then "
        "`systemctl enable --now zermelo-client`"
    )
    if made:
        advice = (
            f"it runs under an account of its own: `useradd --system --no-create-home {ACCOUNT}`, "
            f"which must be able to run {command}; {advice}"
        )
    # Whatever root configures later belongs to the account at the next start.
    own = f"ExecStartPre=+/bin/chown -R {account}: {_argument(folder)}\n" if made else ""
    return ServiceFile(
        f"""\
[Unit]
Description=Zermelo client: solves games while this computer has time
Wants=network-online.target
After=network-online.target

[Service]
User={account}
{own}ExecStart={_run(command, data_dir)}
# Only the daemon hears of a stop; it sees to its workers.
KillMode=mixed
TimeoutStopSec=60
Restart=on-failure
RestartSec=60
# Neither a wrong configuration nor a refusal by the server mends itself.
RestartPreventExitStatus=2 6
NoNewPrivileges=yes
ProtectSystem=strict
ProtectHome=read-only
ReadWritePaths={_word(folder)}
PrivateTmp=yes
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6

[Install]
WantedBy=multi-user.target
""",
        advice,
    )


def _owner(data_dir: Path) -> str:
    """The account whose client this is; root's client runs under another one."""
    folder = ClientFolder(data_dir).path
    try:
        owner = folder.owner() if folder.exists() else getpass.getuser()
    except (KeyError, OSError):
        return ACCOUNT
    return ACCOUNT if owner == "root" else owner


def launchd(command: str, data_dir: Path) -> ServiceFile:
    arguments = "\n".join(
        f"    <string>{escape(argument)}</string>"
        for argument in (command, "client", "run", "--data-dir", str(data_dir))
    )
    return ServiceFile(
        f"""\
<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" \
"http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key>
  <string>zermelo.client</string>
  <key>ProgramArguments</key>
  <array>
{arguments}
  </array>
  <key>RunAtLoad</key>
  <true/>
  <key>KeepAlive</key>
  <dict>
    <!-- Only then: an exit code says what does not mend itself. -->
    <key>Crashed</key>
    <true/>
  </dict>
  <key>ThrottleInterval</key>
  <integer>60</integer>
  <key>ExitTimeOut</key>
  <integer>60</integer>
  <key>ProcessType</key>
  <string>Background</string>
</dict>
</plist>
""",
        "save it as ~/Library/LaunchAgents/zermelo.client.plist, then "
        "`launchctl load ~/Library/LaunchAgents/zermelo.client.plist`",
    )


def windows(command: str, data_dir: Path) -> ServiceFile:
    """The client needs a Unix: on Windows it runs in the Linux subsystem."""
    inside = shlex.join([command, "client", "run", "--data-dir", str(data_dir)]).replace("'", "''")
    return ServiceFile(
        f"""\
# The client runs in the Windows Subsystem for Linux; paste this into PowerShell.
$action = New-ScheduledTaskAction -Execute 'wsl.exe' -Argument '-e {inside}'
$trigger = New-ScheduledTaskTrigger -AtLogOn
$settings = New-ScheduledTaskSettingsSet -Priority 10 -DontStopIfGoingOnBatteries `
    -AllowStartIfOnBatteries -RestartCount 3 -RestartInterval (New-TimeSpan -Minutes 1) `
    -ExecutionTimeLimit ([TimeSpan]::Zero)
Register-ScheduledTask -TaskName 'Zermelo client' -Action $action -Trigger $trigger `
    -Settings $settings
""",
        "paste it into PowerShell; the battery is the client's own preference",
    )


SERVICES: dict[str, Callable[[str, Path], ServiceFile]] = {
    "systemd-user": systemd_user,
    "systemd-system": systemd_system,
    "launchd": launchd,
    "windows": windows,
}


def _run(command: str, data_dir: Path) -> str:
    """The command of a unit; only in its arguments systemd looks for variables."""
    return f"{_word(command)} client run --data-dir {_argument(data_dir)}"


def _argument(text: object) -> str:
    return _word(text).replace("$", "$$")


def _word(text: object) -> str:
    """One word for systemd, which reads specifiers and, in quotes, escapes."""
    word = str(text).replace("%", "%%")
    if shlex.quote(word) == word:
        return word
    return '"' + word.replace("\\", "\\\\").replace('"', '\\"') + '"'
