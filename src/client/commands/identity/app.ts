import { createIdentityApp, deleteIdentityApp, listIdentityApps } from "../../../identity/api/manage/apps.ts";
import { answer, type Command } from "../../shell/command.ts";
import { timeText } from "../../text/time-text.ts";
import { usageFailure } from "../../basics/failures.ts";
import { noWords, oneWord } from "../../shell/words.ts";
import { table } from "./shared.ts";
import { rowsOf } from "../../shell/listing.ts";

export const appCommands: readonly Command[] = [
  {
    name: "list",
    summary: "list the apps",
    usage: ["identity app list"],
    lists: rowsOf("apps", "id"),
    flags: [],
    async run(context, args) {
      noWords(args);
      const data = await context.api.call(listIdentityApps);
      return answer(context, data, () => {
        const rows = data.apps.map((app) => [app.id, app.name, String(app.instances), timeText(app.created_at)]);
        return rows.length === 0 ? "no apps yet" : table(["ID", "NAME", "INSTANCES", "CREATED"], rows, context);
      });
    },
  },
  {
    name: "create",
    summary: "make an app",
    usage: ["identity app create [NAME]"],
    flags: [],
    async run(context, args) {
      const [name, ...more] = args.words;
      if (more.length > 0) throw usageFailure("an app has one name; put it in quotes");
      const data = await context.api.call(createIdentityApp, { body: name === undefined ? {} : { name } });
      return answer(context, data, () => `made app ${data.name} (${data.id})`);
    },
  },
  {
    name: "delete",
    summary: "delete an app that has no instances",
    usage: ["identity app delete APP"],
    flags: [],
    async run(context, args) {
      const app = oneWord(args, "which app: its id or name");
      const data = await context.api.call(deleteIdentityApp, { params: { app } });
      return answer(context, data, () => `deleted app ${app}`);
    },
  },
];
