import { listDatabases } from "../../../observability/api/plugins.ts";
import { keyText } from "../../../orchestration/api/manifest-key.ts";
import {
  disablePlugin,
  enablePlugin,
  type PluginInfo,
  removePlugin,
  rollbackPlugin,
  updatePlugin,
} from "../../../orchestration/api/plugins.ts";
import { api, faultText } from "../../data/api.ts";
import { lacks } from "../../data/session.ts";
import { Button } from "../../parts/button.tsx";
import { ask } from "../../parts/dialog.tsx";
import { say } from "../../data/notices.ts";
import { many } from "../../text/figures.ts";
import { previewConsequences, previewOf } from "../../text/plugins.ts";

interface Of {
  plugin: PluginInfo;
  again: () => void;
}

/** What can be done with a plugin. Each button says first what it will do. */
export function PluginButtons({ plugin, again }: Of) {
  const { origin, enabled, previous } = plugin;
  const button = (text: string, begin: (of: Of) => Promise<void> | void) => (
    <Button
      look="bare"
      hindrance={lacks("admin")}
      onClick={() =>
        void Promise.resolve(begin({ plugin, again })).catch((error: unknown) => say(faultText(error), "bad"))
      }
    >
      {text}
    </Button>
  );
  return (
    <span class="row end">
      {origin === "installed" ? button("Update…", askUpdate) : null}
      {previous === undefined ? null : button("Roll back…", askRollback)}
      {enabled ? button("Disable…", askDisable) : button("Enable", enable)}
      {origin === "bundled" ? null : button("Remove…", askRemove)}
    </span>
  );
}

async function askUpdate({ plugin: { name, version }, again }: Of): Promise<void> {
  say(`Looking for a new version of ${name}`, "work");
  const shown = previewOf(await api.call(updatePlugin, { params: { name }, body: { preview: true } }));
  if (shown === undefined) return;
  const { more = [], grant, digest } = shown;
  ask({
    title: shown.version === version ? `Install ${name} ${version} again` : `Update ${name} to ${shown.version}`,
    verb: more.length === 0 ? "Update" : "Update and grant",
    danger: more.length > 0,
    command: `berth plugins update ${name}`,
    effects: previewConsequences(shown),
    run: async () => {
      const body = { expect: digest, ...(more.length === 0 ? {} : { grant }) };
      await api.call(updatePlugin, { params: { name }, body });
      say(`${name} is updated`);
      again();
    },
  });
}

function askRollback({ plugin: { name, version, previous }, again }: Of): void {
  ask({
    title: `Roll ${name} back to ${previous ?? "the version before"}`,
    verb: "Roll back",
    command: `berth plugins rollback ${name}`,
    effects: [
      { text: `${previous ?? "The version before"} takes the place of ${version || "this one"}` },
      { text: "A second rollback switches back" },
      { text: "Blocks stay as they are until their next apply" },
    ],
    run: async () => {
      await api.call(rollbackPlugin, { params: { name } });
      again();
    },
  });
}

async function blocksOf(name: string): Promise<string[]> {
  const { blocks } = await api.call(listDatabases);
  return blocks.filter(({ plugin }) => plugin === name).map(keyText);
}

async function askDisable({ plugin: { name }, again }: Of): Promise<void> {
  const blocks = await blocksOf(name);
  ask({
    title: `Disable the plugin ${name}`,
    verb: "Disable",
    danger: true,
    command: `berth plugins disable ${name}`,
    effects: [
      { text: "Its commands are refused, and its blocks cannot be applied", ends: true },
      ...(blocks.length === 0 ? [] : [{ text: `No failover and no help of it for ${blocks.join(", ")}`, ends: true }]),
      { text: "What it made runs on" },
    ],
    run: async () => {
      await api.call(disablePlugin, { params: { name } });
      again();
    },
  });
}

async function enable({ plugin: { name }, again }: Of): Promise<void> {
  await api.call(enablePlugin, { params: { name } });
  say(`${name} is enabled`);
  again();
}

async function askRemove({ plugin: { name, version, previous }, again }: Of): Promise<void> {
  const blocks = await blocksOf(name);
  const versions = [version, previous].filter((word) => word !== undefined && word !== "").join(" and ");
  ask({
    title: `Remove the plugin ${name}`,
    verb: "Remove",
    danger: true,
    type: name,
    command: `berth plugins remove ${name}`,
    effects: [
      {
        text: `Its files are deleted${versions === "" ? "" : `, of ${versions}`}: no rollback is possible`,
        ends: true,
      },
      { text: "Its uninstall hook runs, if it has one", ends: true },
      ...(blocks.length === 0
        ? [{ text: "It has no blocks" }]
        : [
            {
              text: `${many(blocks.length, "block")} can no longer be changed or backed up: ${blocks.join(", ")}`,
              ends: true,
            },
            { text: "Their containers and data stay" },
          ]),
    ],
    run: async () => {
      await api.call(removePlugin, { params: { name } });
      again();
    },
  });
}
