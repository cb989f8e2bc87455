import { type Static, Type } from "@sinclair/typebox";
import { type PlaneEndpoint, planeEndpoint } from "./plane-endpoint.ts";

const strict = { additionalProperties: false };
const text = (maxLength: number, description: string) => Type.String({ minLength: 1, maxLength, description });

/** How the values of a chart read. */
export const chartUnits = ["percent", "bytes", "bytes_per_second", "rate", "ms", "count"] as const;
export type ChartUnit = (typeof chartUnits)[number];

/** How several values become one. */
export const aggregates = ["avg", "min", "max", "sum", "last", "rate", "count", "p50", "p90", "p95", "p99"] as const;

/** One chart: a question to GET /query, and how its answer reads. */
export const BoardChart = Type.Object(
  {
    title: text(100, "above the chart"),
    metric: text(500, "SOURCE.NAME, several with commas"),
    agg: Type.Optional(text(20, "avg, min, max, sum, last, rate, count, p50, p90, p95 or p99")),
    group_by: Type.Optional(text(100, "app, replica or a label such as host; one line for each")),
    app: Type.Optional(text(200, "SCOPE or SCOPE/NAME")),
    where: Type.Optional(text(500, "labels that a series must have: host=shop.example")),
    unit: Type.Union(
      chartUnits.map((unit) => Type.Literal(unit)),
      { description: chartUnits.join(", ") },
    ),
    names: Type.Optional(
      Type.Array(text(100, "of one metric"), {
        maxItems: 20,
        description: "names of the lines, in the order of metric",
      }),
    ),
  },
  strict,
);
export type BoardChart = Static<typeof BoardChart>;

export const BoardBody = Type.Object(
  {
    title: Type.Optional(text(100, "above the board (default: its name)")),
    charts: Type.Array(BoardChart, { minItems: 1, maxItems: 24 }),
  },
  strict,
);
export type BoardBody = Static<typeof BoardBody>;

export const Board = Type.Object({
  name: Type.String(),
  title: Type.String(),
  charts: Type.Array(BoardChart),
  built_in: Type.Boolean({ description: "part of the server; it cannot be changed or deleted" }),
  updated_at: Type.Optional(Type.String()),
  updated_by: Type.Optional(Type.String({ description: "pat:ID, or cli" })),
});
export type Board = Static<typeof Board>;

const boardsPath = "/boards";

export const listBoards = planeEndpoint({
  method: "GET",
  path: boardsPath,
  scope: "read",
  summary: "Boards of charts: those of the server first, then those that were saved",
  data: Type.Object({ boards: Type.Array(Board) }),
});

export const getBoard = planeEndpoint({
  method: "GET",
  path: `${boardsPath}/:name`,
  scope: "read",
  summary: "One board",
  data: Board,
});

export const putBoard = planeEndpoint({
  method: "PUT",
  path: `${boardsPath}/:name`,
  scope: "actions",
  summary: "Saves a board under a name, or replaces it",
  body: BoardBody,
  data: Board,
});

export const deleteBoard = planeEndpoint({
  method: "DELETE",
  path: `${boardsPath}/:name`,
  scope: "actions",
  summary: "Deletes a board that was saved",
  data: Board,
});

export const boardEndpoints: PlaneEndpoint[] = [listBoards, getBoard, putBoard, deleteBoard];
