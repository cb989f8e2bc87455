import { health } from "../../orchestration/api/health.ts";
import { answer, type CommandBody } from "../shell/command.ts";
import { CommandFailure, exitCodes } from "../basics/failures.ts";
import { listText } from "../basics/table-text.ts";

export const versionCommand: CommandBody = {
  usage: ["version"],
  examples: ["version  of this program and of the server"],
  flags: [],
  groups: true,
  async run(context) {
    const { version: client, endpoint } = context;
    const server = await context.api.call(health).then(
      ({ version }) => ({ version, failure: undefined }),
      (failure: unknown) => ({ version: undefined, failure }),
    );
    if (server.version === undefined && !(server.failure instanceof CommandFailure)) throw server.failure;
    answer(context, { client, server: server.version ?? null }, () =>
      listText([
        ["client", client],
        ["server", server.version ?? `not reached at ${endpoint}`],
      ]),
    );
    if (!(server.failure instanceof CommandFailure)) return exitCodes.done;
    if (!context.json) context.terminal.note(server.failure.message);
    return server.failure.exitCode;
  },
};
