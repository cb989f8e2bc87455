type Fetch = (request: Request) => Response | Promise<Response>;

/** Adds a header to every answer. */
export function withHeader(fetch: Fetch, name: string, value: string): Fetch {
  const add = (answer: Response) => {
    answer.headers.set(name, value);
    return answer;
  };
  return (request) => {
    const answer = fetch(request);
    return answer instanceof Promise ? answer.then(add) : add(answer);
  };
}
