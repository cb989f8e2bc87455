import { requireAllApps, sees } from "../../access/apps.ts";
import { type Call, mount, type Plane } from "../../base/http/mount.ts";
import type { Endpoint } from "../../base/wire/endpoint.ts";
import { readParam } from "../../base/http/request.ts";
import { Failure } from "../../base/wire/failure.ts";
import { type Board, deleteBoard, getBoard, listBoards, putBoard } from "../api/boards.ts";
import { deleteSavedSearch, listSavedSearches, saveSearch } from "../api/log-searches.ts";
import type { BoardRoom } from "../service/saved/boards.ts";
import type { SearchRoom } from "../service/saved/searches.ts";

/** Log searches and boards that all users of the installation share. */
export function mountSaved(plane: Plane, { searches, boards }: { searches: SearchRoom; boards: BoardRoom }): void {
  mount(plane, listSavedSearches, (call) => ({ searches: searches.list().filter(({ app }) => isShown(call, app)) }));
  mount(plane, saveSearch, ({ params, body, actor, by }) => {
    requireAllApps(by);
    return searches.put(readParam(params, "name"), body, actor);
  });
  mount(plane, deleteSavedSearch, ({ params, by }) => {
    requireAllApps(by);
    return searches.remove(readParam(params, "name"));
  });
  mount(plane, listBoards, (call) => ({ boards: boards.list().filter((board) => isBoardShown(call, board)) }));
  mount(plane, getBoard, (call) => {
    const name = readParam(call.params, "name");
    const board = boards.get(name);
    if (isBoardShown(call, board)) return board;
    throw new Failure("not_found", `there is no board "${name}"; list them with: berth boards`);
  });
  mount(plane, putBoard, ({ params, body, actor, by }) => {
    requireAllApps(by);
    return boards.put(readParam(params, "name"), body, actor);
  });
  mount(plane, deleteBoard, ({ params, by }) => {
    requireAllApps(by);
    return boards.remove(readParam(params, "name"));
  });
}

/** What names an app of others would tell a limited token that it exists. */
function isShown({ by }: Pick<Call<Endpoint>, "by">, app: string | undefined): boolean {
  if (app === undefined || app === "") return true;
  return app.split(",").every((word) => {
    const [scope = "", name = "*"] = word.split("/");
    return sees(by, { scope, name });
  });
}

function isBoardShown(call: Pick<Call<Endpoint>, "by">, { charts }: Board): boolean {
  return charts.every(({ app }) => isShown(call, app));
}
