import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { waitFor } from "./wait.ts";

/**
 * A machine to install a server on: this one, with folders of its own where an installation writes, and a `systemctl`
 * that starts and stops what the units in /etc/systemd/system say. systemd itself cannot run here.
 */
export interface ServiceMachine {
  run(command: readonly string[], env?: Record<string, string>): Promise<Finished>;
  /** The same without the folders of the machine, also after its end. */
  outside(command: readonly string[]): Promise<Finished>;
  /** What systemctl was asked for, a line each. */
  calls(): string;
  close(): Promise<void>;
}

interface Finished {
  exitCode: number;
  stdout: string;
  stderr: string;
}

/** Environment of a unit lies in its lines; everything that it prints goes to one journal. */
const systemctl = (state: string) => `#!/bin/sh
state=${state}
words=
now=
for word in "$@"; do
  case $word in
    --now) now=yes ;;
    -*) ;;
    *) words="$words $word" ;;
  esac
done
set -- $words
verb=$1 unit=$2
file=/etc/systemd/system/$unit
pid_file=$state/$unit.pid
pid=$(cat "$pid_file" 2>/dev/null || true)
alive() { [ -n "$pid" ] && grep -q '^State:[[:space:]][^ZX]' "/proc/$pid/status" 2>/dev/null; }
start() {
  alive && return 0
  [ -f "$file" ] || { echo "Unit $unit not found." >&2; exit 5; }
  cat "$file" "$file".d/*.conf 2>/dev/null | sed -n 's/^Environment=/export /p' >"$state/$unit.env"
  command=$(sed -n 's/^ExecStart=//p' "$file")
  (. "$state/$unit.env"; eval "exec setsid $command") >>"$state/journal" 2>&1 </dev/null &
  echo $! >"$pid_file"
}
stop() {
  alive || return 0
  kill "$pid"
  tries=0
  while alive && [ "$tries" -lt 300 ]; do tries=$((tries + 1)); sleep 0.05; done
  ! alive || kill -KILL "$pid"
}
echo "$verb $unit" >>"$state/calls"
case $verb in
  daemon-reload | reload) ;;
  enable) [ -z "$now" ] || start ;;
  disable) [ -z "$now" ] || stop ;;
  start) start ;;
  stop) stop ;;
  restart) stop; pid=; start ;;
  is-active) alive || exit 3 ;;
  *) echo "systemctl $verb is not played here" >&2; exit 1 ;;
esac
`;

/** A root of its own: what this machine has is not there, but for the folders that are `seen`, at the same paths. */
interface CleanRoot {
  /** A tar archive of a root file system. */
  tar: string;
  /** Programs of this machine that are put into it, with the libraries that they are linked to. */
  programs: readonly string[];
  seen: readonly string[];
}

/** Lines of a script that makes the root at `$root`. */
function cleanRoot({ tar, programs, seen }: CleanRoot): string[] {
  return [
    "mkdir -p $root && mount -t tmpfs -o mode=755 tmpfs $root",
    `tar -C $root -xf ${tar}`,
    "mkdir -p $root/proc $root/sys $root/dev $root/tmp $root/run $root/opt $root/etc/systemd/system",
    "for folder in proc sys dev; do mount --rbind /$folder $root/$folder; done",
    "chmod 1777 $root/tmp",
    `for program in ${programs.join(" ")}; do`,
    "  install -D -m 755 $program $root$program",
    "  for library in $(ldd $program 2>/dev/null | grep -o '/[^ ]*'); do",
    "    [ -e $root$library ] || install -D -m 755 $library $root$library",
    "  done",
    "done",
    `for folder in ${seen.join(" ")}; do mkdir -p $root$folder; mount --bind $folder $root$folder; done`,
  ];
}

export async function serviceMachine(env: Record<string, string> = {}, clean?: CleanRoot): Promise<ServiceMachine> {
  const work = mkdtempSync(join(tmpdir(), "berth-machine."));
  const state = join(work, "state");
  mkdirSync(state);
  writeFileSync(join(work, "systemctl"), systemctl(state), { mode: 0o755 });
  writeFileSync(join(work, "journalctl"), `#!/bin/sh\ntail -n 20 ${state}/journal\n`, { mode: 0o755 });
  const folders = [
    ...["etc", "local", "opt"].map((name) => `mkdir -p ${work}/state/${name}/up ${work}/state/${name}/work`),
    ...[
      ["etc", "/etc"],
      ["local", "/usr/local"],
    ].map(([name, at]) => {
      const place = `${work}/state/${name}`;
      return `mount -t overlay overlay -o lowerdir=${at},upperdir=${place}/up,workdir=${place}/work ${at}`;
    }),
    "mount -t tmpfs tmpfs /run",
  ];
  const root = clean === undefined ? "" : `${work}/root`;
  const set = [
    "set -e",
    `root=${root}`,
    `mount -t tmpfs tmpfs ${work}/state`,
    ...(clean === undefined ? folders : cleanRoot({ ...clean, seen: [...clean.seen, `${work}/state`] })),
    "mkdir -p $root/run/systemd/system $root/etc/systemd/system $root/usr/local/bin",
    `cp ${work}/systemctl ${work}/journalctl $root/usr/local/bin/`,
    `: >${work}/ready`,
    "exec sleep infinity",
  ];
  const holder = Bun.spawn(["unshare", "-m", "--propagation", "private", "sh", "-c", set.join("\n")], {
    stdin: "ignore",
    stdout: "ignore",
    stderr: "inherit",
  });
  await waitFor("the machine", () => Bun.file(join(work, "ready")).exists());
  const inside = ["nsenter", "-t", String(holder.pid), "-m", "--", ...(root === "" ? [] : ["chroot", root])];
  const start = async (command: readonly string[], more: Record<string, string> = {}): Promise<Finished> => {
    const kept = Object.entries(process.env).filter(([name]) => !name.startsWith("BERTH_"));
    const child = Bun.spawn([...command], {
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
      env: { ...Object.fromEntries(kept), PATH: `/usr/local/bin:${process.env.PATH}`, NO_COLOR: "1", ...env, ...more },
    });
    const [stdout, stderr] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
    return { exitCode: await child.exited, stdout, stderr };
  };
  const run: ServiceMachine["run"] = (command, more) => start([...inside, ...command], more);
  return {
    run,
    outside: start,
    calls: () => readFileSync(`/proc/${holder.pid}/root${state}/calls`, "utf8"),
    async close() {
      for (const unit of ["berth.service", "berth-ingress.service"]) await run(["systemctl", "stop", unit]);
      holder.kill();
      await holder.exited;
      rmSync(work, { recursive: true, force: true });
    },
  };
}
