import type { Socket } from "bun";

export interface SmtpServer {
  port: number;
  /** Raw messages as they were sent after DATA. */
  received: string[];
  /** Answers to the recipient from now on: `250`, `450`, `550`. `hang` says nothing. */
  answer: "accept" | "later" | "never" | "hang";
  stop(): void;
}

interface Session {
  rest: string;
  message: string | undefined;
}

/** As much of RFC 5321 as a client needs to hand over mail, on loopback. */
export function startSmtpServer(): SmtpServer {
  const listener = Bun.listen<Session>({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      open(socket) {
        socket.data = { rest: "", message: undefined };
        socket.write("220 test ESMTP\r\n");
      },
      data(socket, chunk) {
        const lines = (socket.data.rest + chunk.toString()).split("\r\n");
        socket.data.rest = lines.pop() ?? "";
        for (const line of lines) take(socket, line);
      },
    },
  });
  const server: SmtpServer = { port: listener.port, received: [], answer: "accept", stop: () => listener.stop(true) };
  return server;

  function take(socket: Socket<Session>, line: string): void {
    const { message } = socket.data;
    if (message !== undefined) {
      if (line !== ".") {
        socket.data.message = `${message}${line}\n`;
        return;
      }
      server.received.push(message);
      socket.data.message = undefined;
      socket.write("250 ok\r\n");
      return;
    }
    const verb = line.slice(0, 4).toUpperCase();
    if (verb === "EHLO") socket.write("250-test\r\n250 8BITMIME\r\n");
    else if (verb === "RCPT") recipient(socket);
    else if (verb === "DATA") {
      socket.data.message = "";
      socket.write("354 go on\r\n");
    } else socket.write(verb === "QUIT" ? "221 bye\r\n" : "250 ok\r\n");
  }

  function recipient(socket: Socket<Session>): void {
    const answers = {
      accept: "250 ok",
      later: "450 busy, ana@example.com",
      never: "550 unknown ana@example.com",
      hang: "",
    };
    const text = answers[server.answer];
    if (text !== "") socket.write(`${text}\r\n`);
  }
}
