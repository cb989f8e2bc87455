import type { Command, ServerName } from "../core/change.ts";
import { socketText } from "../core/commands.ts";
import { isDone, isGone, isThere, type RuntimeSocket } from "./runtime-socket.ts";

/** HAProxy reads a line into one buffer. */
const lineMax = 12 * 1024;

type Entry = Extract<Command, { kind: "add-server" | "enable-server" }>;

/** Whether a server comes, or comes back. */
function isEntry(command: Command): command is Entry {
  return command.kind === "add-server" || command.kind === "enable-server";
}

/** Whether something goes: it may be gone already. */
function isRemoval({ kind }: Command): boolean {
  return ["disable-server", "delete-server", "delete-map", "unlist-certificate", "delete-certificate"].includes(kind);
}

/** The entries before any other command, as far as one line holds them. What leaves has to wait until they are done. */
export function entriesFirst(commands: readonly Command[]): Entry[] {
  const first: Entry[] = [];
  let length = 0;
  for (const command of commands) {
    if (!isEntry(command)) break;
    length += socketText(command).length + 1;
    if (length > lineMax) break;
    first.push(command);
  }
  return first;
}

/** Sends them as one line. False when HAProxy says anything but that all of them are done; some of them may be then. */
export async function areDone({ ask }: RuntimeSocket, entries: readonly Entry[]): Promise<boolean> {
  if (entries.length === 0) return true;
  const answer = await ask(`${entries.map((entry) => socketText(entry).trimEnd()).join(";")}\n`);
  const said = answer.split("\n").filter((line) => line.trim() !== "");
  const added = entries.filter(({ kind }) => kind === "add-server").length;
  return said.length === added && said.every((line) => line.trim() === "New server registered.");
}

interface Sending {
  socket: RuntimeSocket;
  draining: { remove(server: ServerName): void };
  /** What fails is passed over. */
  beforeLoad: boolean;
}

/** Undefined when all were carried out. */
export async function sendCommands(
  commands: readonly Command[],
  { socket, draining, beforeLoad }: Sending,
): Promise<string | undefined> {
  const versions: Record<string, string> = {};
  let added: Command | undefined;
  for (const command of commands) if (isEntry(command)) draining.remove(command);
  // Each of them changes nothing when it is sent again, as it is where the proxy says anything about one.
  const together = entriesFirst(commands);
  const isDoneAlready = await areDone(socket, together);
  for (const command of isDoneAlready ? commands.slice(together.length) : commands) {
    let answer = await socket.ask(socketText(command, versions));
    // It was left, and is deleted at this very moment.
    if (command.kind === "enable-server" && isGone(answer) && added !== undefined) {
      await socket.ask(socketText(added));
      answer = await socket.ask(socketText(command));
    }
    added = command.kind === "add-server" ? command : undefined;
    if (command.kind === "prepare-map") versions[command.map] = /version created: (\d+)/i.exec(answer)?.[1] ?? "";
    if (isDone(answer) || (isRemoval(command) && isGone(answer)) || (isEntry(command) && isThere(answer))) continue;
    if (!beforeLoad) return `${command.kind} was answered with: ${answer.trim()}`;
  }
  return undefined;
}
