import { Failure, type Problem } from "../../../base/wire/failure.ts";
import { schemaReader } from "../../../base/wire/read-body.ts";
import { type Board, BoardBody, type BoardChart } from "../../api/boards.ts";
import { builtInBoards } from "../../core/boards.ts";
import type { SavedRecord } from "../../store/saved.ts";
import type { ObservabilityContext } from "../context.ts";
import { questionProblems, readAggregate, readFilter, readMetrics } from "../metrics/questions.ts";
import { createShelf } from "./shelf.ts";

/** Boards of charts: built in, and saved. */
export interface BoardRoom {
  list(): Board[];
  /** Fails `not_found`. */
  get(name: string): Board;
  /** Fails `invalid` with the path of each fault, and `conflict` for a name of the server itself. */
  put(name: string, body: unknown, by: string): Promise<Board>;
  /** Fails `not_found`, and `conflict` for a board of the server itself. */
  remove(name: string): Promise<Board>;
}

const readBody = schemaReader(BoardBody);

export function createBoardRoom(context: ObservabilityContext): BoardRoom {
  const { boards: limits } = context.limits.saved;
  const shelf = createShelf(context, { sort: "board", label: "board", list: "berth boards", limits });
  const builtIn = (name: string) => builtInBoards.find((board) => board.name === name);
  const requireOwn = (name: string) => {
    if (builtIn(name) === undefined) return;
    throw new Failure("conflict", `the board "${name}" is part of the server and stays as it is; use another name`);
  };
  return {
    list: () => [...builtInBoards, ...shelf.list().map(viewOf)],
    get: (name) => builtIn(name) ?? viewOf(shelf.get(name)),
    async put(name, given, by) {
      requireOwn(name);
      const body = readBody(given);
      const problems = body.charts.flatMap((chart, at) =>
        chartProblems(chart, `charts[${at}]`, context.metrics.limits.queryMetricsMax),
      );
      return viewOf(await shelf.put({ name, body, by }, problems));
    },
    async remove(name) {
      requireOwn(name);
      return viewOf(await shelf.remove(name));
    },
  };
}

/** What GET /query would refuse. */
function chartProblems({ metric, agg, app, where }: BoardChart, path: string, metricsMax: number): Problem[] {
  const reads = [() => readMetrics(metric, metricsMax), () => readAggregate(agg), () => readFilter({ app, where })];
  return questionProblems(path, reads);
}

function viewOf({ name, body, updatedAt, updatedBy }: SavedRecord): Board {
  const { title, charts } = body as BoardBody;
  return {
    name,
    title: title ?? name,
    charts,
    built_in: false,
    updated_at: new Date(updatedAt).toISOString(),
    updated_by: updatedBy,
  };
}
