import { writeFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { Failure } from "../../base/wire/failure.ts";
import { isAtLeast, resticMin } from "../../backups/core/restic-commands.ts";
import { resticVersion } from "../../backups/core/restic-words.ts";
import { type Machine, must } from "./machine.ts";
import { fetchRestic, resticRelease } from "./restic-release.ts";

const aptInstall = ["apt-get", "install", "-y", "-qq", "--no-install-recommends"];
/** Without systemd, the packages of Debian would start their services with another run level. */
const quiet = { DEBIAN_FRONTEND: "noninteractive", RUNLEVEL: "1" };
const dockerSettings = "/etc/docker/daemon.json";

/** How other families of distributions install a package; undefined where none of their tools is there. */
function installCommand(machine: Machine, names: { dnf: string; zypper: string; pacman: string }): string | undefined {
  if (machine.has("dnf")) return `dnf install -y ${names.dnf}`;
  if (machine.has("yum")) return `yum install -y ${names.dnf}`;
  if (machine.has("zypper")) return `zypper install -y ${names.zypper}`;
  return machine.has("pacman") ? `pacman -S --noconfirm ${names.pacman}` : undefined;
}

async function aptGet(machine: Machine, name: string): Promise<boolean> {
  if ((await machine.run(["apt-get", "update", "-qq"])).exitCode !== 0) return false;
  return (await machine.run([...aptInstall, name], quiet)).exitCode === 0;
}

/** Installs Docker where it is missing. Its settings belong to the operator. Fails with the command where it cannot. */
export async function needEngine(machine: Machine): Promise<void> {
  if (machine.has("docker") || machine.exists("/var/run/docker.sock")) return;
  if (!machine.has("apt-get")) {
    const way = installCommand(machine, { dnf: "docker-ce", zypper: "docker", pacman: "docker" });
    const how = way === undefined ? "install it" : `${way} && systemctl enable --now docker`;
    throw new Failure("unavailable", `Docker Engine is missing: ${how}, then run this again`);
  }
  machine.say("installing Docker Engine (docker.io)");
  await must(machine, ["apt-get", "update", "-qq"]);
  await must(machine, [...aptInstall, "docker.io"], { DEBIAN_FRONTEND: "noninteractive" });
  await must(machine, ["systemctl", "enable", "--now", "--quiet", "docker.service"]);
}

/**
 * Says that live-restore is off, and turns it on where the operator wants that and Docker has no settings yet. `wanted`:
 * without being asked.
 */
export async function offerLiveRestore(machine: Machine, wanted: boolean): Promise<void> {
  const { exitCode, stdout } = await machine.run(["docker", "info", "--format", "{{.LiveRestoreEnabled}}"]);
  if (exitCode !== 0 || stdout.trim() === "true") return;
  machine.say("Docker's live-restore is off: a crash or upgrade of the Docker daemon stops every container");
  if (machine.exists(dockerSettings)) {
    machine.note(`to fix: add "live-restore": true to ${dockerSettings}, then: systemctl reload docker`);
    return;
  }
  const answer = wanted ? "y" : machine.ask(`write ${dockerSettings} with it and reload Docker?`);
  if (/^\s*y(?:es)?\s*$/i.test(answer ?? "")) {
    await mkdir("/etc/docker", { recursive: true });
    writeFileSync(dockerSettings, '{ "live-restore": true }\n', { flag: "wx" });
    await must(machine, ["systemctl", "reload", "docker.service"]);
    machine.note(`turned on in ${dockerSettings}`);
    return;
  }
  machine.note(`unchanged; to fix: echo '{ "live-restore": true }' > ${dockerSettings} && systemctl reload docker`);
}

/** Installs HAProxy where it is missing. Without it the server runs its image: says so and goes on. */
export async function needProxy(machine: Machine): Promise<void> {
  if (machine.has("haproxy")) {
    const service = await machine.run(["systemctl", "is-active", "--quiet", "haproxy.service"]);
    if (service.exitCode !== 0) return;
    machine.say("haproxy.service of this machine runs and stays as it is; berth starts a HAProxy of its own beside it");
    machine.note("both cannot have the same ports: change its ports, or install with --ingress-http-addr and");
    machine.note("--ingress-https-addr");
    return;
  }
  if (!machine.has("apt-get")) {
    const way = installCommand(machine, { dnf: "haproxy", zypper: "haproxy", pacman: "haproxy" });
    machine.say("HAProxy is missing: with the first ingress, the server fetches its image and runs it in a container");
    machine.note(`to run the program instead: ${way ?? "install HAProxy 2.6 or newer"}, then run this again`);
    return;
  }
  machine.say("installing HAProxy (haproxy)");
  if (!(await aptGet(machine, "haproxy"))) {
    machine.say("apt-get could not install haproxy: with the first ingress, the server fetches its image");
    machine.note(
      "to run the program instead: apt-get install haproxy && systemctl disable --now haproxy, then run this again",
    );
    return;
  }
  // The service of the package is not what berth starts.
  await machine.run(["systemctl", "--quiet", "disable", "--now", "haproxy.service"]);
}

/**
 * Installs restic where it is missing or too old: from the packages of Debian, or a release of its own. Without it all works but
 * copies outside of the machine: says so and goes on. Fails `conflict` where a release is not what it should be.
 */
export async function needRestic(machine: Machine, release = resticRelease): Promise<void> {
  if (await hasRestic(machine)) return;
  const isDebian = machine.has("apt-get");
  if (isDebian) machine.say("installing restic (restic)");
  if (isDebian && (await aptGet(machine, "restic")) && (await hasRestic(machine))) return;
  try {
    return await fetchRestic(machine, release);
  } catch (error) {
    if (!(error instanceof Failure) || error.code === "conflict") throw error;
    machine.note(error.message);
  }
  const other = installCommand(machine, { dnf: "restic", zypper: "restic", pacman: "restic" });
  machine.say(
    `restic ${resticMin} or newer is missing: berth backup target cannot copy anything outside of this machine`,
  );
  machine.note(
    `to install it: ${isDebian ? "apt-get install restic" : (other ?? `install restic ${resticMin} or newer`)}`,
  );
}

/** Whether there is one that the server can use. */
async function hasRestic(machine: Machine): Promise<boolean> {
  if (!machine.has("restic")) return false;
  const version = resticVersion((await machine.run(["restic", "version"])).stdout);
  return version === undefined || isAtLeast(version, resticMin);
}

/** What has to be open in a firewall, in the words of the one that runs here. */
export async function firewallHints(machine: Machine): Promise<string[]> {
  const ufw = await machine.run(["ufw", "status"]);
  if (/^Status: active/m.test(ufw.stdout)) {
    return ["ufw is active: ufw allow 22/tcp && ufw allow 80/tcp && ufw allow 443/tcp"];
  }
  const firewalld = await machine.run(["firewall-cmd", "--state"]);
  if (firewalld.stdout.trim() === "running") {
    return [
      "firewalld is active: firewall-cmd --permanent --add-service=ssh --add-service=http --add-service=https",
      "                     firewall-cmd --reload",
    ];
  }
  return ["a firewall in front needs ports 80 and 443 for visitors, and 22 for you; all others can stay closed"];
}
