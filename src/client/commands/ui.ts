import { createUiLink } from "../../observability/api/sessions.ts";
import { system } from "../../orchestration/api/health.ts";
import { openBrowser } from "../shell/browser.ts";
import type { Arguments } from "../basics/arguments.ts";
import { answer, type CommandBody, type Context } from "../shell/command.ts";
import { CommandFailure, exitCodes } from "../basics/failures.ts";
import { printable } from "../basics/style.ts";
import { noWords } from "../shell/words.ts";
import { holdWays, sideWay } from "./tunnel.ts";

const loopback = "127.0.0.1";

export const uiCommand: CommandBody = {
  usage: ["ui [--scope SCOPES] [--app GLOB…] [--print]"],
  examples: [
    "ui  print a link that signs a browser in once, and open it",
    "ui -r production  the same through a tunnel to a remote, held until Ctrl-C",
    "ui --scope read --app shop  a session that only looks, and only at the apps of shop",
  ],
  detail: [
    "The link works once, within a minute. On a desktop it is opened. The session lasts 12 hours, or",
    "until it signs out. berth pat list shows the token behind it, and berth pat revoke ends it.",
  ],
  flags: [
    {
      name: "scope",
      value: "SCOPES",
      repeat: true,
      summary: "what the session may do, separated by commas (everything)",
    },
    { name: "app", value: "GLOB", repeat: true, summary: "only these apps: shop, shop/web, shop/worker-*" },
    { name: "print", summary: "only print the link" },
  ],
  async run(context, args) {
    noWords(args);
    const address = await planeAddress(context);
    const remote = context.remotes.chosen;
    if (remote === undefined) {
      await show(context, args, address.replace(/^(?:0\.0\.0\.0|\[::\]):/, `${loopback}:`));
      return exitCodes.done;
    }
    const way = sideWay(context, remote, { name: "web UI", local: 0, address });
    return await holdWays(context, [way], async ([port = 0]) => {
      await show(context, args, `${loopback}:${port}`);
      if (!context.json) {
        const { terminal } = context;
        terminal.note(terminal.noteStyle.dim(`${printable(context.endpoint)} is connected until Ctrl-C`));
      }
    });
  },
};

/** Where the server listens for the web UI, as its machine knows it. */
async function planeAddress({ api }: Context): Promise<string> {
  const { listeners = [] } = await api.call(system);
  const plane = listeners.find(({ name }) => name === "observability");
  if (plane !== undefined) return plane.address;
  throw new CommandFailure(
    "the server does not listen for the web UI: start it with --observability-addr 127.0.0.1:8687",
  );
}

async function show(context: Context, args: Arguments, host: string): Promise<void> {
  const scopes = listed(args, "scope");
  const apps = listed(args, "app");
  const { path, expires_at } = await context.api.call(createUiLink, { body: { scopes, apps } });
  const url = `http://${host}${path}`;
  answer(context, { url, expires_at }, () => url);
  if (context.json) return;
  const opened = !args.on("print") && (await openBrowser(context, url));
  const { terminal } = context;
  terminal.note(terminal.noteStyle.dim(opened ? "opened in a browser" : "open it within a minute; it works once"));
}

function listed(args: Arguments, flag: string): string[] | undefined {
  const given = args.values(flag).flatMap((text) => text.split(",").map((word) => word.trim()));
  return given.length === 0 ? undefined : given.filter((word) => word !== "");
}
