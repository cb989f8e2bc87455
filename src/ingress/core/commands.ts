import type { Command, ServerName } from "./change.ts";
import { hostName, plainName, socketWord, UnsafeText, wholeNumber } from "./quote.ts";

/** The version that `prepare-map` was answered with, by map. */
type MapVersions = Readonly<Record<string, string>>;

/**
 * What is sent for one command, with the line break at its end: one line, or a line and a payload, which ends with an
 * empty line.
 */
export function socketText(command: Command, versions: MapVersions = {}): string {
  switch (command.kind) {
    case "add-server":
      return `add server ${serverWord(command)} ${command.words}\n`;
    case "enable-server":
      return `set server ${serverWord(command)} state ready\n`;
    case "disable-server":
      return `set server ${serverWord(command)} state maint\n`;
    case "delete-server":
      return `del server ${serverWord(command)}\n`;
    case "close-sessions":
      return `shutdown sessions server ${serverWord(command)}\n`;
    case "set-weight":
      return `set server ${serverWord(command)} weight ${wholeNumber(command.weight, 256, "weight")}\n`;
    case "set-server-limit":
      return `set maxconn server ${serverWord(command)} ${wholeNumber(command.connections, 1_000_000, "connections")}\n`;
    default:
      return "map" in command ? mapText(command, versions) : certificateText(command);
  }
}

function serverWord({ backend, server }: ServerName): string {
  return `${plainName(backend, "backend")}/${plainName(server, "server")}`;
}

function mapText(command: Extract<Command, { map: string }>, versions: MapVersions): string {
  const map = socketWord(command.map, "map");
  const version = `@${plainName(versions[command.map] ?? "0", "version of a map")}`;
  switch (command.kind) {
    case "add-map":
    case "set-map":
      return `${command.kind === "add-map" ? "add" : "set"} map ${map} ${socketWord(command.key, "key")} ${socketWord(command.value, "value")}\n`;
    case "delete-map":
      return `del map ${map} ${socketWord(command.key, "key")}\n`;
    case "prepare-map":
      return `prepare map ${map}\n`;
    case "fill-map":
      return `add map ${version} ${map} <<\n${command.entries.map(({ key, value }) => `${key} ${value}\n`).join("")}\n`;
    case "commit-map":
      return `commit map ${version} ${map}\n`;
  }
}

function certificateText(command: Extract<Command, { file: string }>): string {
  const file = socketWord(command.file, "certificate");
  switch (command.kind) {
    case "new-certificate":
      return `new ssl cert ${file}\n`;
    case "set-certificate":
      return `set ssl cert ${file} <<\n${pemLines(command.pem)}\n`;
    case "commit-certificate":
      return `commit ssl cert ${file}\n`;
    case "list-certificate":
      return `add ssl crt-list ${socketWord(command.list, "list")} <<\n${listLine(command)}\n`;
    case "unlist-certificate":
      return `del ssl crt-list ${socketWord(command.list, "list")} ${file}\n`;
    case "delete-certificate":
      return `del ssl cert ${file}\n`;
  }
}

/** An empty line would end the payload, and begin a command. */
export function pemLines(pem: string): string {
  const lines = pem.split(/\r?\n/).filter((line) => line.trim() !== "");
  if (lines.length === 0 || lines.some((line) => !/^[ -~]+$/.test(line)))
    throw new UnsafeText("certificate", lines[0] ?? "");
  return `${lines.join("\n")}\n`;
}

/** One line of the list of certificates. */
export function listLine({ file, names }: { file: string; names: readonly string[] }): string {
  return `${[file, ...names.map((name) => hostName(name, "name of a certificate"))].join(" ")}\n`;
}
