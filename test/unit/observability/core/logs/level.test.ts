import { describe, expect, test } from "bun:test";
import { levelOf } from "../../../../../src/observability/core/logs/level.ts";
import type { Level } from "../../../../../src/observability/core/logs/line.ts";

type Cases = readonly (readonly [text: string, level: Level])[];

function check(cases: Cases): void {
  for (const [text, level] of cases)
    test(`${JSON.stringify(text).slice(0, 100)} is ${level}`, () => expect(levelOf(text)).toBe(level));
}

describe("lines as common loggers write them", () => {
  const pino = (level: number) => `{"level":${level},"time":1767186300000,"pid":7,"hostname":"web","msg":"paid"}`;
  const bunyan = (level: number) =>
    `{"name":"shop","hostname":"web","pid":7,"level":${level},"msg":"paid","time":"2026-01-31T13:05:00.000Z","v":0}`;
  const monolog = (level: number, name: string) =>
    `{"message":"Payment refused","context":{"level":"emergency"},"level":${level},"level_name":"${name}","channel":"app","datetime":"2026-01-31T13:05:00.123456+00:00","extra":{}}`;
  check([
    // pino, bunyan
    [pino(10), "trace"],
    [pino(30), "info"],
    [pino(35), "info"],
    [pino(60), "fatal"],
    [bunyan(20), "debug"],
    [bunyan(50), "error"],
    ['{"level":40,"msg":"pino without its base fields"}', "warn"],
    // winston
    ['{"level":"warn","message":"slow","timestamp":"2026-01-31T13:05:00.000Z"}', "warn"],
    ["error: cannot connect", "error"],
    // Monolog
    [monolog(200, "INFO"), "info"],
    [monolog(250, "NOTICE"), "info"],
    [monolog(550, "ALERT"), "fatal"],
    ['{"message":"x","context":{},"level":400,"channel":"app"}', "error"],
    ['[2026-01-31T13:05:00.123456+00:00] app.ERROR: Payment refused {"order":7} []', "error"],
    ["[2026-01-31 13:05:00] production.WARNING: slow query", "warn"],
    // Python's logging and what formats it as JSON
    ["ERROR:root:cannot connect", "error"],
    ["2026-01-31 13:05:00,123 - shop.cart - WARNING - nearly full", "warn"],
    ['{"asctime": "2026-01-31 13:05:00,123", "levelname": "CRITICAL", "message": "gone"}', "fatal"],
    ['{"message": "gone", "levelno": 40, "lineno": 12}', "error"],
    ['{"message": "gone", "level": 40, "lineno": 12, "funcName": "pay"}', "error"],
    ['{"levelno": 25, "message": "a level between"}', "info"],
    ["[2026-01-31 13:05:00,123: ERROR/MainProcess] Task shop.pay raised", "error"],
    ["[2026-01-31 13:05:00 +0000] [7] [CRITICAL] WORKER TIMEOUT (pid:9)", "fatal"],
    ["INFO:     Started server process [7]", "info"],
    // structlog, loguru
    ['{"event": "paid", "level": "warning", "timestamp": "2026-01-31T13:05:00Z"}', "warn"],
    ['{"event": "paid", "level_number": 40}', "error"],
    [
      '{"text": "x", "record": {"file": {"name": "a.py"}, "level": {"icon": "!", "name": "ERROR", "no": 40}, "message": "x"}}',
      "error",
    ],
    ["2026-01-31 13:05:00.123 | SUCCESS  | __main__:pay:12 - paid", "info"],
    // zap, zerolog, logrus, slog, hclog, klog
    ['{"level":"dpanic","ts":1767186300.1,"caller":"main.go:7","msg":"odd"}', "fatal"],
    ["2026-01-31T13:05:00.123Z\tWARN\tmain.go:7\tslow", "warn"],
    ['{"level":"trace","time":"2026-01-31T13:05:00Z","message":"in"}', "trace"],
    ["2026-01-31T13:05:00Z INF started port=8080", "info"],
    ["3:04PM ERR failed error=refused", "error"],
    ['time="2026-01-31T13:05:00Z" level=warning msg="disk is nearly full"', "warn"],
    ["WARN[0007] disk is nearly full                      free=3", "warn"],
    ['time=2026-01-31T13:05:00.000Z level=INFO+2 msg="a notice"', "info"],
    ['{"time":"2026-01-31T13:05:00Z","level":"DEBUG-4","msg":"own trace"}', "trace"],
    ['{"time":"2026-01-31T13:05:00Z","level":"ERROR+4","msg":"own fatal"}', "fatal"],
    ['{"time":"2026-01-31T13:05:00Z","level":"WARN+1","msg":"odd"}', "warn"],
    ['{"@level":"error","@message":"lost","@module":"raft","@timestamp":"2026-01-31T13:05:00.000000Z"}', "error"],
    ["E0131 13:05:00.000000       1 main.go:1] no", "error"],
    // Rust
    ['{"timestamp":"2026-01-31T13:05:00Z","level":"ERROR","fields":{"message":"x"},"target":"shop"}', "error"],
    ["\x1b[2m2026-01-31T13:05:00.123456Z\x1b[0m \x1b[33m WARN\x1b[0m shop: slow", "warn"],
    ["[2026-01-31T13:05:00Z ERROR shop::cart] lost", "error"],
    // Logback, Log4j, java.util.logging, Spring Boot
    ["13:05:00.123 [main] ERROR com.shop.Cart - lost", "error"],
    ["2026-01-31T13:05:00.123+01:00  WARN 1 --- [shop] [main] c.s.Cart : slow", "warn"],
    ["SEVERE: lost", "error"],
    ["FINE: looked up", "debug"],
    ['{"@timestamp":"2026-01-31T13:05:00Z","message":"x","logger_name":"a","level_value":30000}', "warn"],
    ['{"@timestamp":"2026-01-31T13:05:00Z","log.level":" WARN","message":"x"}', "warn"],
    ['{"@timestamp":"2026-01-31T13:05:00Z","log":{"level":"ERROR","logger":"a"},"message":"level"}', "error"],
    ['{"version":"1.1","host":"web","short_message":"x","level":3,"_level_name":"ERROR"}', "error"],
    ['{"version":"1.1","host":"web","short_message":"x","timestamp":1.7E9,"level":6}', "info"],
    // .NET, Serilog, NLog
    ["fail: Shop.Cart[12]", "error"],
    ["crit: Shop.Cart[12]", "fatal"],
    ["dbug: Shop.Cart[12]", "debug"],
    ["<3>Shop.Cart[12] lost", "error"],
    ['{"EventId":12,"LogLevel":"Critical","Category":"Shop.Cart","Message":"x","State":{"level":"low"}}', "fatal"],
    ['{"LogLevel":3,"Category":"Shop.Cart"}', "warn"],
    ['{"@t":"2026-01-31T13:05:00Z","@mt":"Hello, {User}","User":"ann"}', "info"],
    ['{"@t":"2026-01-31T13:05:00Z","@mt":"x","@l":"Error","Level":"Debug"}', "error"],
    ['{"Timestamp":"2026-01-31T13:05:00Z","Level":"Verbose","MessageTemplate":"x"}', "trace"],
    ["[13:05:00 WRN] slow", "warn"],
    ["2026-01-31 13:05:00.123 +00:00 [FTL] gone", "fatal"],
    // Ruby, Elixir
    ["E, [2026-01-31T13:05:00.123456 #7] ERROR -- : lost", "error"],
    ["2026-01-31T13:05:00.123Z pid=7 tid=abc INFO: Booted", "info"],
    ["13:05:00.123 [error] GenServer terminating", "error"],
    // servers and others
    ["<4>kernel: odd", "warn"],
    ["[warn] disk is nearly full", "warn"],
    ["WARNING: deprecated", "warn"],
    ["2026-01-31 13:05:00 ERROR could not connect", "error"],
    ["2026/01/31 13:05:00 [emerg] 7#7: bind() failed", "fatal"],
    ["[Sat Jan 31 13:05:00.123456 2026] [core:error] [pid 7] lost", "error"],
    ["[2026-01-31 13:05:00.123][1][warning][main] [source/server.cc:7] odd", "warn"],
    ["2026-01-31T13:05:00.123456Z 0 [Warning] [MY-010068] [Server] CA is self signed", "warn"],
    ["2026-01-31 13:05:00 0 [Note] mariadbd: ready", "info"],
    ["2026-01-31 13:05:00.123 UTC [7] FATAL:  password authentication failed", "fatal"],
    ["2026-01-31 13:05:00.123 UTC [7] LOG:  database system is ready", "info"],
    ["1:M 31 Jan 2026 13:05:00.123 # WARNING overcommit is off", "warn"],
    ["1:M 31 Jan 2026 13:05:00.123 * Ready to accept connections", "info"],
    ['{"t":{"$date":"2026-01-31T13:05:00.000+00:00"},"s":"W","c":"NETWORK","id":7,"msg":"x"}', "warn"],
    ["[31-Jan-2026 13:05:00] NOTICE: fpm is running, pid 1", "info"],
    ["Jan 31 13:05:00 web CRIT lost", "fatal"],
    ["<165>1 2026-01-31T13:05:00Z web shop 7 - - x", "info"],
    ['@cee: {"level":"error"}', "error"],
    ['{"severity":"NOTICE","message":"Google Cloud"}', "info"],
    ['{"severity":500,"message":"Google Cloud"}', "error"],
    ['{"severityText":"WARN","severityNumber":13,"body":"x"}', "warn"],
    ['{"SeverityNumber":21,"Body":"x"}', "fatal"],
    ['{"PRIORITY":"4","MESSAGE":"of the journal"}', "warn"],
    ['{"error_severity":"ERROR","message":"PostgreSQL"}', "error"],
  ]);
});

describe("the level of the logger is not that of something else", () => {
  check([
    ['{"user":{"level":"critical"},"level":"info"}', "info"],
    ['{"user":{"level":"critical"},"level":30}', "info"],
    [String.raw`{"msg":"sent \"level\":\"error\"","level":"debug"}`, "debug"],
    [String.raw`{"msg":"a path C:\\","level":"debug"}`, "debug"],
    ['{"tags":["level","error"],"msg":"level","level":"warn"}', "warn"],
    ['{"level":200,"severity":"warning"}', "warn"],
    ['{"level":30,"level_name":"ERROR"}', "error"],
    ['{"severity":"critical","ticket":7,"level":"info"}', "info"],
    ['{"level":"57","severity":"error"}', "error"],
    ['{"level":"levelup","lvl":"warn"}', "warn"],
    ['{"level":null,"severity":"error"}', "error"],
    ['{ "msg" : "spaces" , "level" : "error" }', "error"],
    ['2026-01-31 INFO set level=debug for "shop"', "info"],
    ['ts=1 msg="an ERROR with level=fatal in it" level=warn', "warn"],
    ["ts=1 level=debug msg=hi", "debug"],
    ["at=info method=GET path=/ERROR", "info"],
    ['10.0.0.1 - - [31/Jan/2026:13:05:00 +0000] "GET /DEBUG?level=ERROR HTTP/1.1" 200 7', "none"],
  ]);
});

describe("what is no level", () => {
  check([
    ['{"level":"57"}', "none"],
    ['{"level":57}', "none"],
    ['{"level":"levelup"}', "none"],
    ['{"level":0.5}', "none"],
    ['{"level":3.7}', "none"],
    ['{"level":30e2}', "none"],
    ['{"level":-1}', "none"],
    ['{"level":true}', "none"],
    ['{"level":123456789}', "none"],
    ['{"level":["error"]}', "none"],
    ['{"level":{"water":"high"}}', "none"],
    ['{"user":{"level":40}}', "none"],
    ['{"msg":"level is high"}', "none"],
    ['{"priority":"critical"}', "none"],
    ["level=levelup user=ann", "none"],
    ["an error happened in a sentence", "none"],
    ["see /var/log/ERROR/today", "none"],
    ["x INF y", "none"],
    ["http: Server closed", "none"],
    ['{"level', "none"],
    ['{"level":', "none"],
    ["{", "none"],
    ["", "none"],
  ]);
});

describe("the first line of a trace is an error", () => {
  check([
    ['Exception in thread "main" java.lang.IllegalStateException: lost', "error"],
    ["java.lang.NullPointerException", "error"],
    ["com.shop.CartException: empty", "error"],
    ["Traceback (most recent call last):", "error"],
    ["  + Exception Group Traceback (most recent call last):", "error"],
    ["ValueError: not a number", "error"],
    ["app.rb:7:in 'Cart#pay': lost (RuntimeError)", "error"],
    ["/app/cart.rb:7:in `pay': undefined method (NoMethodError)", "error"],
    ["panic: runtime error: index out of range [7] with length 3", "error"],
    ["2026/01/31 13:05:00 http: panic serving 10.0.0.1:7: lost", "error"],
    ["goroutine 1 [running]:", "error"],
    ["fatal error: all goroutines are asleep - deadlock!", "error"],
    ["/app/cart.js:7", "error"],
    ["node:internal/process/promises:288", "error"],
    ["Error: lost", "error"],
    ["TypeError [ERR_INVALID_ARG_TYPE]: lost", "error"],
    ["Uncaught Error: lost", "error"],
    ["(node:7) UnhandledPromiseRejectionWarning: Error: lost", "error"],
    ["Unhandled exception. System.InvalidOperationException: lost", "error"],
    ["System.NullReferenceException: Object reference not set", "error"],
    ["PHP Fatal error:  Uncaught Exception: lost in /app/cart.php:7", "error"],
    ["Fatal error: Uncaught Exception: lost in /app/cart.php on line 7", "error"],
    ["PHP Parse error:  syntax error, unexpected end of file", "error"],
    ["thread 'main' panicked at src/main.rs:7:5:", "error"],
    ["** (RuntimeError) lost", "error"],
    ["PHP Warning:  Undefined variable $cart", "warn"],
    ["PHP Notice:  odd", "info"],
    ["(node:7) [DEP0040] DeprecationWarning: the module is deprecated", "warn"],
    ["    at Object.<anonymous> (/app/cart.js:7:3)", "none"],
    ["INFO java.lang.IllegalStateException: is only told of", "info"],
  ]);
});
