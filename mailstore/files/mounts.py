"""File systems on which other machines' changes raise no events here, recognised by the kernel's table of mounts."""

from __future__ import annotations

import os
from pathlib import Path

MOUNTS = Path("/proc/self/mountinfo")
SILENT = frozenset(
    {
        *("9p", "drvfs", "vboxsf", "prl_fs", "fuse.vmhgfs-fuse"),  # Windows' drives in WSL; the host's in machines
        *("nfs", "nfs4", "cifs", "smb3", "smbfs", "afs", "ceph", "fuse.sshfs", "fuse.ceph", "fuse.glusterfs"),
    }
)


def silent_file_system(folder: Path) -> str:
    """Return the name of the file system of a folder if its changes must be looked for; empty if not, or unknown."""
    try:
        device = folder.stat().st_dev
        table = MOUNTS.read_text("utf-8", "surrogateescape")
    except OSError:
        return ""
    wanted = f"{os.major(device)}:{os.minor(device)}"
    for line in table.splitlines():
        mount, _, kind = line.partition(" - ")
        fields = mount.split()
        if len(fields) > 2 and fields[2] == wanted:
            name = kind.split(" ", 1)[0]
            return name if name in SILENT else ""
    return ""
