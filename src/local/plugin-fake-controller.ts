/** A controller that plays a script, for plugins that call back while they are tested. */
interface FakeController {
  url: string;
  /** `METHOD /path?query` of each request, in order. */
  calls: string[];
  stop(): Promise<void>;
}

/** Answers by `METHOD /path?query`: what is given becomes `data`, `{"error": …}` a 400, nothing a 404. */
export function startFakeController(answers: Readonly<Record<string, unknown>>): FakeController {
  const calls: string[] = [];
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    development: false,
    fetch(request) {
      const { pathname, search } = new URL(request.url);
      const call = `${request.method} ${pathname}${search}`;
      calls.push(call);
      if (!Object.hasOwn(answers, call)) return refusal(404, `the test says nothing about "${call}"`);
      const answer = answers[call];
      const error = typeof answer === "object" && answer !== null && "error" in answer ? answer.error : undefined;
      return error === undefined ? Response.json({ status: "ok", data: answer }) : refusal(400, String(error));
    },
  });
  return { url: `http://127.0.0.1:${server.port}`, calls, stop: () => server.stop(true) };
}

function refusal(status: number, error: string): Response {
  return Response.json({ status: "error", error }, { status });
}
