import type { FoundLine } from "../../core/logs/line.ts";
import { type CompiledQuery, lineFits } from "../../core/logs/query.ts";
import { blockMsMax, tooLong } from "../../store/logs/match.ts";
import type { FromLogThread } from "./messages.ts";

interface Followers {
  /** Lines are kept for it from now on, and handed out once it has begun. */
  add(id: number, query: CompiledQuery): { begin(stored: FoundLine[]): void };
  /** Whether there was one. */
  remove(id: number): boolean;
  push(line: FoundLine): void;
  /** Sends what has come. */
  deliver(): void;
}

interface Follower {
  query: CompiledQuery;
  lines: FoundLine[];
  skipped: number;
  begun: boolean;
  /** What its query took, since when; both in milliseconds of `performance.now`. */
  spent: number;
  since: number;
}

interface FollowersOptions {
  post: (message: FromLogThread) => void;
  /** Lines that wait for one of them, between two looks. */
  linesMax: number;
  /** Span in which the query of one of them may take as long as for a stored block. */
  spanMs: number;
}

/** Those who want to know what is written from now on. */
export function createFollowers({ post, linesMax, spanMs }: FollowersOptions): Followers {
  const all = new Map<number, Follower>();
  const send = (id: number, follower: Follower) => {
    if (!follower.begun || (follower.lines.length === 0 && follower.skipped === 0)) return;
    post({ type: "lines", id, lines: follower.lines, skipped: follower.skipped });
    follower.lines = [];
    follower.skipped = 0;
  };
  const fits = (follower: Follower, line: FoundLine) => {
    if (follower.query.byColumns) return lineFits(follower.query, line);
    const begun = performance.now();
    if (begun - follower.since > spanMs) Object.assign(follower, { spent: 0, since: begun });
    const isMeant = lineFits(follower.query, line);
    follower.spent += performance.now() - begun;
    return isMeant;
  };
  return {
    add(id, query) {
      const follower: Follower = { query, lines: [], skipped: 0, begun: false, spent: 0, since: performance.now() };
      all.set(id, follower);
      return {
        begin(stored) {
          if (!all.has(id)) return;
          follower.begun = true;
          post({ type: "lines", id, lines: stored, skipped: 0 });
          send(id, follower);
        },
      };
    },
    remove: (id) => all.delete(id),
    push(line) {
      for (const [id, follower] of all) {
        const isMeant = fits(follower, line);
        if (follower.spent > blockMsMax) {
          all.delete(id);
          const { code, message } = tooLong();
          post({ type: "failed", id, code, message });
        }
        if (!isMeant) continue;
        if (follower.lines.length < linesMax) follower.lines.push(line);
        else follower.skipped += 1;
      }
    },
    deliver() {
      for (const [id, follower] of all) send(id, follower);
    },
  };
}
