import { Type } from "@sinclair/typebox";
import { Text } from "../../base/wire/query.ts";

/** Answers of lists stay arrays: where one goes on stands in the header of this name, and as `Link: <…>; rel="next"`. */
export const nextCursorHeader = "X-Next-Cursor";

export const Paging = {
  limit: Text("resources at most; an answer is full at about 900 kB in any case"),
  cursor: Text(`goes on behind an earlier answer: its ${nextCursorHeader}`),
};

export const ListQuery = Type.Object(Paging);
