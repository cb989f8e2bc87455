import { type DiskUse, getDisk, type VolumeUse } from "../../orchestration/api/disk.ts";
import { answer, type CommandBody, type Context } from "../shell/command.ts";
import { exitCodes } from "../basics/failures.ts";
import { printable } from "../basics/style.ts";
import { noWords } from "../shell/words.ts";
import { bytesText } from "../text/stats-table.ts";
import { tableText } from "../basics/table-text.ts";

export const diskCommand: CommandBody = {
  usage: ["disk [--volumes]"],
  examples: ["disk  what fills the disk of the server", "disk --volumes  the volumes, with the app of each"],
  detail: [
    "The server measures at most once a minute. To make room: berth prune. Exits with 1 where nothing",
    "could be measured.",
  ],
  flags: [{ name: "volumes", summary: "list the volumes with their size and the app that uses them" }],
  async run(context, args) {
    noWords(args);
    const data = await context.api.call(getDisk, { query: { wait: "true" } });
    answer(context, data, () => (args.on("volumes") ? volumesText(data.volumes, context) : diskText(data, context)));
    if (data.error !== undefined) context.terminal.note(`! not measured: ${printable(data.error)}`);
    return data.measured_at === undefined ? exitCodes.failed : exitCodes.done;
  },
};

type Row = [what: string, bytes: string, more: string];

function diskText({ engine, stores }: DiskUse, { terminal }: Context): string {
  const rows: Row[] = engine === undefined ? [] : engineRows(engine);
  const own = stores
    .filter(({ bytes }) => bytes > 0)
    .map(({ name, bytes, cap, cap_bytes: capBytes }): Row => {
      return [name, bytesText(bytes), capBytes === undefined ? cap : `at most ${bytesText(capBytes)}`];
    });
  return tableText([["WHAT", "SIZE", ""], ...rows, ...own], { head: terminal.style.dim });
}

function engineRows({ images, build_cache: cache, volumes, containers }: NonNullable<DiskUse["engine"]>): Row[] {
  const { log_bytes: logs } = containers;
  return [
    [
      "images",
      bytesText(images.bytes),
      `${images.count}; ${bytesText(images.removable_bytes)} can be removed with berth prune`,
    ],
    ["build cache", bytesText(cache.bytes), `${bytesText(cache.unused_bytes)} is unused`],
    ["volumes", bytesText(volumes.bytes), `${volumes.count}; see berth disk --volumes`],
    ["containers", bytesText(containers.writable_bytes), `${containers.count}; what they wrote outside of volumes`],
    ...(logs === undefined ? [] : [["container logs", bytesText(logs), "files of Docker"] satisfies Row]),
  ];
}

function volumesText(volumes: readonly VolumeUse[], { terminal }: Context): string {
  if (volumes.length === 0) return "no volumes";
  const rows = volumes.map(({ volume, scope, name, state, bytes, remove = "" }) => [
    printable(volume),
    name === "" ? printable(scope) : printable(`${scope}/${name}`),
    state,
    bytes === undefined ? "" : bytesText(bytes),
    printable(remove),
  ]);
  return tableText([["VOLUME", "APP", "STATE", "SIZE", ""], ...rows], { head: terminal.style.dim });
}
