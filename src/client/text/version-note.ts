import { compareVersions } from "../../base/pure/versions.ts";

/**
 * What to say when client and server have different versions, both like `0.1.0 (commit: …)`; undefined when they have
 * the same one, or one of them does not tell.
 */
export function versionNote(client: string, server: string): string | undefined {
  const [own, other] = [numberOf(client), numberOf(server)];
  if (own === undefined || other === undefined || own.text === other.text) return undefined;
  const isNear = own.major === other.major && Math.abs(own.minor - other.minor) <= 1;
  const way =
    compareVersions(own.text, other.text) < 0
      ? "berth self-update updates this one"
      : "berth server upgrade, on the server, updates that one";
  const risk = isNear ? "" : "; they are more than one minor version apart, and some commands may fail";
  return `this berth is ${own.text} and the server is ${other.text}: ${way}${risk}`;
}

function numberOf(version: string): { text: string; major: number; minor: number } | undefined {
  const [, text, major, minor] = /^((\d+)\.(\d+)\.\d+\S*)(?: |$)/.exec(version) ?? [];
  return text === undefined ? undefined : { text, major: Number(major), minor: Number(minor) };
}
