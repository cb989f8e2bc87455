/** How long ago, in one unit: `now`, `40 s`, `5 min`, `3 h`, `2 d`. A time to come reads `in 5 min`. */
export function agoText(at: number, now: number): string {
  const seconds = Math.round((now - at) / 1000);
  const size = Math.abs(seconds);
  if (size < 5) return "now";
  const text = size < 100 ? `${size} s` : size < 5_940 ? `${Math.round(size / 60)} min` : daysOrHours(size);
  return seconds < 0 ? `in ${text}` : `${text} ago`;
}

function daysOrHours(seconds: number): string {
  return seconds < 129_600 ? `${Math.round(seconds / 3_600)} h` : `${Math.round(seconds / 86_400)} d`;
}

/** To make a format takes longer than to use it a hundred times. */
function formats(options: Intl.DateTimeFormatOptions): (zone: string | undefined) => Intl.DateTimeFormat {
  const made = new Map<string | undefined, Intl.DateTimeFormat>();
  return (zone) => {
    const known = made.get(zone);
    if (known !== undefined) return known;
    const format = new Intl.DateTimeFormat("en-GB", zone === undefined ? options : { ...options, timeZone: zone });
    made.set(zone, format);
    return format;
  };
}

const exactFormat = formats({
  year: "numeric",
  month: "2-digit",
  day: "2-digit",
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  timeZoneName: "short",
});
const clockFormat = formats({ hour: "2-digit", minute: "2-digit", second: "2-digit", fractionalSecondDigits: 3 });

/** In the viewer's own zone and with its name, for a tooltip: `2026-01-02 14:03:07 UTC+1`. */
export function exactText(at: number, zone?: string): string {
  const parts = exactFormat(zone).formatToParts(at);
  const part = (type: string) => parts.find((one) => one.type === type)?.value ?? "";
  return `${part("year")}-${part("month")}-${part("day")} ${part("hour")}:${part("minute")}:${part("second")} ${part("timeZoneName")}`;
}

/** Marks of a time axis, in seconds since 1970: times of day, and the day where it is another than before. */
export function axisTexts(marks: readonly number[], zone?: string): string[] {
  const inZone = zone === undefined ? {} : { timeZone: zone };
  const clock = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", ...inZone });
  const day = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", ...inZone });
  return marks.map((mark, index) => {
    const text = day.format(mark * 1000);
    const before = marks[index - 1];
    return before === undefined || day.format(before * 1000) === text ? clock.format(mark * 1000) : text;
  });
}

/** Time of day with milliseconds, for lines of a log. */
export function clockText(at: number, zone?: string): string {
  return clockFormat(zone).format(at);
}

/** A text of the server with its times in the viewer's own zone. */
export function localTimes(text: string, zone?: string): string {
  return text.replace(/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g, (time) => exactText(Date.parse(time), zone));
}
