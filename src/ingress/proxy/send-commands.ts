import type { Command, ServerName } from "../core/change.ts";
import { socketText } from "../core/commands.ts";
import { isDone, isGone, isThere, type RuntimeSocket } from "./runtime-socket.ts";
import { areDone, entriesFirst, isEntry, isRemoval } from "./together.ts";

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
