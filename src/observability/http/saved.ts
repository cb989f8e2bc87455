import { readParam } from "../../base/http/request.ts";
import { Failure } from "../../base/wire/failure.ts";
import { type Board, deleteBoard, getBoard, listBoards, putBoard } from "../api/boards.ts";
import { deleteSavedSearch, listSavedSearches, saveSearch } from "../api/log-searches.ts";
import type { PlaneEndpoint } from "../api/plane-endpoint.ts";
import type { BoardRoom } from "../service/saved/boards.ts";
import type { SearchRoom } from "../service/saved/searches.ts";
import type { MountRoom, RoomCall } from "./both-planes.ts";

/** Log searches and boards that all users of the installation share. */
export function mountSaved(mount: MountRoom, { searches, boards }: { searches: SearchRoom; boards: BoardRoom }): void {
  mount(listSavedSearches, (call) => ({ searches: searches.list().filter(({ app }) => isShown(call, app)) }));
  mount(saveSearch, ({ params, body, actor, requireAllApps }) => {
    requireAllApps();
    return searches.put(readParam(params, "name"), body, actor);
  });
  mount(deleteSavedSearch, ({ params, requireAllApps }) => {
    requireAllApps();
    return searches.remove(readParam(params, "name"));
  });
  mount(listBoards, (call) => ({ boards: boards.list().filter((board) => isBoardShown(call, board)) }));
  mount(getBoard, (call) => {
    const name = readParam(call.params, "name");
    const board = boards.get(name);
    if (isBoardShown(call, board)) return board;
    throw new Failure("not_found", `there is no board "${name}"; list them with: berth boards`);
  });
  mount(putBoard, ({ params, body, actor, requireAllApps }) => {
    requireAllApps();
    return boards.put(readParam(params, "name"), body, actor);
  });
  mount(deleteBoard, ({ params, requireAllApps }) => {
    requireAllApps();
    return boards.remove(readParam(params, "name"));
  });
}

/** What names an app of others would tell a limited token that it exists. */
function isShown({ sees }: RoomCall<PlaneEndpoint>, app: string | undefined): boolean {
  if (app === undefined || app === "") return true;
  return app.split(",").every((word) => {
    const [scope = "", name = "*"] = word.split("/");
    return sees({ scope, name });
  });
}

function isBoardShown(call: RoomCall<PlaneEndpoint>, { charts }: Board): boolean {
  return charts.every(({ app }) => isShown(call, app));
}
