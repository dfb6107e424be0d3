/** What `strftime` of Python makes of a date in local time, in the C locale; unknown directives stay as they are. */
export const strftime = (date: Date, format: string): string =>
  format.replace(/%([-_0^#]?)([a-zA-Z%])/g, (directive, flag: string, letter: string) => {
    const field = FIELDS[letter];
    if (field === undefined) return directive;
    const text = field(date);
    if (flag === '-') return text.replace(/^[0 ]+(?=.)/, '');
    if (flag === '_') return text.replace(/^0+(?=.)/, (zeros) => ' '.repeat(zeros.length));
    if (flag === '0') return text.replace(/^ +/, (spaces) => '0'.repeat(spaces.length));
    return flag === '^' || flag === '#' ? text.toUpperCase() : text;
  });

const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'] as const;
const MONTHS = [
  ...(['January', 'February', 'March', 'April', 'May', 'June'] as const),
  ...(['July', 'August', 'September', 'October', 'November', 'December'] as const),
];

const two = (value: number): string => String(value).padStart(2, '0');

const dayOfYear = (date: Date): number => {
  const midnight = (year: number, month: number, day: number): number => Date.UTC(year, month, day) / 86_400_000;
  return midnight(date.getFullYear(), date.getMonth(), date.getDate()) - midnight(date.getFullYear(), 0, 1) + 1;
};

/** Weeks begin on Sunday (`first` 0) or Monday (1); days before the first of them are in week 0. */
const weekOfYear = (date: Date, first: 0 | 1): number =>
  Math.floor((dayOfYear(date) - 1 + 7 - ((date.getDay() - first + 7) % 7)) / 7);

/** Monday to Sunday as 1 to 7. */
const isoDay = (date: Date): number => date.getDay() || 7;

/** The ISO week belongs to the year that its Thursday is in. */
const isoThursday = (date: Date): Date =>
  new Date(date.getFullYear(), date.getMonth(), date.getDate() + 4 - isoDay(date));

const hour12 = (date: Date): number => date.getHours() % 12 || 12;

const time = (date: Date): string => [date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(':');
const shortDate = (date: Date): string =>
  [date.getMonth() + 1, date.getDate(), date.getFullYear() % 100].map(two).join('/');

const FIELDS: Readonly<Record<string, (date: Date) => string>> = {
  a: (d) => DAYS[d.getDay()]!.slice(0, 3),
  A: (d) => DAYS[d.getDay()]!,
  b: (d) => MONTHS[d.getMonth()]!.slice(0, 3),
  h: (d) => MONTHS[d.getMonth()]!.slice(0, 3),
  B: (d) => MONTHS[d.getMonth()]!,
  c: (d) =>
    `${DAYS[d.getDay()]!.slice(0, 3)} ${MONTHS[d.getMonth()]!.slice(0, 3)} ${String(d.getDate()).padStart(2)} ${time(d)} ${d.getFullYear()}`,
  C: (d) => two(Math.floor(d.getFullYear() / 100)),
  d: (d) => two(d.getDate()),
  D: shortDate,
  e: (d) => String(d.getDate()).padStart(2),
  f: (d) => String(d.getMilliseconds() * 1000).padStart(6, '0'),
  F: (d) => `${d.getFullYear()}-${two(d.getMonth() + 1)}-${two(d.getDate())}`,
  G: (d) => String(isoThursday(d).getFullYear()),
  H: (d) => two(d.getHours()),
  I: (d) => two(hour12(d)),
  j: (d) => String(dayOfYear(d)).padStart(3, '0'),
  k: (d) => String(d.getHours()).padStart(2),
  l: (d) => String(hour12(d)).padStart(2),
  m: (d) => two(d.getMonth() + 1),
  M: (d) => two(d.getMinutes()),
  n: () => '\n',
  p: (d) => (d.getHours() < 12 ? 'AM' : 'PM'),
  P: (d) => (d.getHours() < 12 ? 'am' : 'pm'),
  r: (d) => `${two(hour12(d))}:${two(d.getMinutes())}:${two(d.getSeconds())} ${d.getHours() < 12 ? 'AM' : 'PM'}`,
  R: (d) => `${two(d.getHours())}:${two(d.getMinutes())}`,
  s: (d) => String(Math.floor(d.getTime() / 1000)),
  S: (d) => two(d.getSeconds()),
  t: () => '\t',
  T: time,
  u: (d) => String(isoDay(d)),
  U: (d) => two(weekOfYear(d, 0)),
  V: (d) => two(Math.ceil(dayOfYear(isoThursday(d)) / 7)),
  w: (d) => String(d.getDay()),
  W: (d) => two(weekOfYear(d, 1)),
  x: shortDate,
  X: time,
  y: (d) => two(d.getFullYear() % 100),
  Y: (d) => String(d.getFullYear()),
  z: () => '',
  Z: () => '',
  '%': () => '%',
};
