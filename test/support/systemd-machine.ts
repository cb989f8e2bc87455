import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { waitFor } from "./wait.ts";

/** A machine with a real systemd as its first process: a copy of this one, whose changes are gone at the end. */
export interface SystemdMachine {
  run(...command: string[]): Promise<{ exitCode: number; stdout: string; stderr: string }>;
  close(): Promise<void>;
}

const systemd = "/lib/systemd/systemd";
const checkout = join(import.meta.dir, "../..");

export const hasSystemd = existsSync(systemd);

/**
 * Nothing of the distribution is started: its services clear folders, load modules and set up devices. Folders of this
 * machine are seen as they are where the test needs them, and cannot be written to.
 */
const script = (work: string, v1: boolean, seen: readonly string[]) => `#!/bin/sh
set -eu
mount -t tmpfs tmpfs ${work}
mkdir -p ${work}/up ${work}/work ${work}/root
mount -t overlay overlay -o lowerdir=/,upperdir=${work}/up,workdir=${work}/work ${work}/root
root=${work}/root
rm -rf $root/etc/systemd/system/*.wants $root/lib/systemd/system/*.wants $root/lib/systemd/system-generators
: >$root/etc/fstab
for unit in tmpfiles-setup tmpfiles-setup-dev tmpfiles-clean; do
  ln -sf /dev/null $root/etc/systemd/system/systemd-$unit.service
done
printf '[Unit]\\nDescription=nothing but what a test starts\\n' >$root/etc/systemd/system/empty.target
mount -t proc proc $root/proc
mount -t sysfs sysfs $root/sys
${
  v1
    ? "mount -t tmpfs -o mode=755 tmpfs $root/sys/fs/cgroup; mkdir $root/sys/fs/cgroup/systemd; mount -t cgroup -o none,name=systemd,xattr cgroup $root/sys/fs/cgroup/systemd"
    : "mount -t cgroup2 cgroup2 $root/sys/fs/cgroup"
}
for folder in run opt tmp dev; do mount -t tmpfs -o mode=755 tmpfs $root/$folder; done
for device in null:3 zero:5 full:7 random:8 urandom:9; do
  mknod -m 666 $root/dev/\${device%:*} c 1 \${device#*:}
done
mknod -m 666 $root/dev/tty c 5 0
ln -s pts/ptmx $root/dev/ptmx
mkdir $root/dev/pts $root/dev/shm $root/dev/mqueue
mount -t devpts -o newinstance,ptmxmode=0666 devpts $root/dev/pts
for folder in ${seen.join(" ")}; do
  mkdir -p $root$folder
  mount --bind $folder $root$folder
  mount -o remount,bind,ro $root$folder
done
export container=other
exec chroot $root ${systemd} --system --unit=empty.target --show-status=no
`;

/** `docker`: its address, as `unix:///path`. */
export async function systemdMachine(docker: string): Promise<SystemdMachine> {
  const folder = mkdtempSync(join(tmpdir(), "berth-systemd."));
  const work = join(folder, "mount");
  mkdirSync(work);
  const file = join(folder, "start");
  writeFileSync(
    file,
    script(work, existsSync("/sys/fs/cgroup/systemd"), [checkout, dirname(docker.replace(/^unix:\/\//, ""))]),
    { mode: 0o755 },
  );
  const alone = ["-m", "-p", "-C", "-i", "-u", "--fork", "--kill-child", "--propagation", "private"];
  const holder = Bun.spawn(["unshare", ...alone, file], { stdin: "ignore", stdout: "ignore", stderr: "inherit" });
  const first = () => readFileSync(`/proc/${holder.pid}/task/${holder.pid}/children`, "utf8").trim();
  const run: SystemdMachine["run"] = async (...command) => {
    const inside = ["nsenter", "-t", first(), "-m", "-p", "-C", "-i", "-u", "-r", "-w", "--"];
    const kept = Object.entries(process.env).filter(([name]) => !name.startsWith("BERTH_"));
    const child = Bun.spawn([...inside, ...command], {
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
      env: { ...Object.fromEntries(kept), NO_COLOR: "1", DOCKER_HOST: docker },
    });
    const [stdout, stderr] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
    return { exitCode: await child.exited, stdout, stderr };
  };
  const close = async () => {
    holder.kill("SIGKILL");
    await holder.exited;
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await waitFor("systemd", async () =>
      /^(?:running|degraded)$/m.test((await run("systemctl", "is-system-running")).stdout),
    );
  } catch (error) {
    await close();
    throw error;
  }
  return { run, close };
}
