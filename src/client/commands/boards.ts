import {
  type Board,
  type BoardBody,
  deleteBoard,
  getBoard,
  listBoards,
  putBoard,
} from "../../observability/api/boards.ts";
import type { Arguments } from "../basics/arguments.ts";
import { answer, type Command, type CommandBody, type Context } from "../shell/command.ts";
import { usageFailure } from "../basics/failures.ts";
import { rowsOf } from "../shell/listing.ts";
import { printable } from "../basics/style.ts";
import { tableText } from "../basics/table-text.ts";

const commands: readonly Command[] = [
  {
    name: "list",
    summary: "list the boards",
    usage: ["boards list"],
    flags: [],
    groups: true,
    lists: rowsOf("boards", "name"),
    async run(context) {
      const data = await context.api.call(listBoards, {});
      return answer(context, data, () => boardsText(data.boards, context));
    },
  },
  {
    name: "show",
    summary: "print a board as JSON, to be changed and saved again",
    usage: ["boards show NAME"],
    flags: [],
    async run(context, args) {
      const data = await context.api.call(getBoard, { params: { name: oneName(args) } });
      return answer(context, data, () => JSON.stringify({ title: data.title, charts: data.charts }, null, 2));
    },
  },
  {
    name: "save",
    summary: "save a board from JSON on stdin, or replace it",
    usage: ["boards save NAME < board.json"],
    examples: ["boards save night-shift < board.json  what boards show printed, changed"],
    flags: [],
    async run(context, args) {
      const name = oneName(args);
      const body = readJson(await context.stdin()) as BoardBody;
      const data = await context.api.call(putBoard, { params: { name }, body });
      return answer(
        context,
        data,
        () => `saved ${data.name}; see it at /metrics?board=${data.name} of the web UI: berth ui`,
      );
    },
  },
  {
    name: "remove",
    summary: "delete a board that was saved",
    usage: ["boards remove NAME"],
    flags: [],
    async run(context, args) {
      const data = await context.api.call(deleteBoard, { params: { name: oneName(args) } });
      return answer(context, data, () => `removed ${data.name}`);
    },
  },
];

export const boardsCommand: CommandBody = {
  usage: ["boards", "boards show NAME", "boards save NAME < board.json", "boards remove NAME"],
  examples: ["boards  list them", "boards show apps > board.json  begin with one of the server"],
  detail: ["All users of the installation share them. berth boards COMMAND --help says more."],
  flags: [],
  commands,
  run: (context, args) => {
    const [word] = args.words;
    if (word !== undefined) throw usageFailure(`unknown command "boards ${word}": use list, show, save or remove`);
    return (commands[0] as Command).run(context, args);
  },
};

function oneName(args: Arguments): string {
  const [name, ...more] = args.words;
  if (name === undefined || more.length > 0)
    throw usageFailure("write the NAME of one board, as berth boards shows it");
  return name;
}

function readJson(text: string): unknown {
  if (text.trim() === "")
    throw usageFailure("the board is missing: give it as JSON on stdin, for example: < board.json");
  try {
    return JSON.parse(text);
  } catch (error) {
    throw usageFailure(`the board on stdin is not JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function boardsText(boards: readonly Board[], { terminal }: Context): string {
  const rows = boards.map(({ name, title, charts, built_in: isBuiltIn }) => [
    name,
    printable(title),
    `${charts.length}`,
    isBuiltIn ? "the server" : "saved",
  ]);
  return tableText([["NAME", "TITLE", "CHARTS", "FROM"], ...rows], { head: terminal.style.dim });
}
