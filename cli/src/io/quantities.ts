/** 1234567 -> `1.2 M`. */
export const formatCount = (count: number): string => scaled(count, 1000, ['', ' K', ' M', ' G', ' T']);

/** Bytes as people buy them: powers of 1000. */
export const formatBytes = (bytes: number): string => scaled(bytes, 1000, [' B', ' KB', ' MB', ' GB', ' TB']);

export const formatSeconds = (milliseconds: number): string => `${(milliseconds / 1000).toFixed(2)}s`;

/** Units a second; 0 where no time has passed. */
export const perSecond = (count: number, milliseconds: number): number =>
  milliseconds > 0 ? (count * 1000) / milliseconds : 0;

/** `1:02:03`, `0:42` */
export const clock = (seconds: number): string => {
  const whole = Math.ceil(seconds);
  const parts = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  const shown = parts[0] === 0 ? parts.slice(1) : parts;
  return shown.map((part, index) => (index === 0 ? String(part) : String(part).padStart(2, '0'))).join(':');
};

const scaled = (value: number, step: number, units: readonly string[]): string => {
  let unit = 0;
  let rest = value;
  while (rest >= step && unit < units.length - 1) {
    rest /= step;
    unit++;
  }
  return `${unit === 0 ? String(value) : rest.toFixed(rest < 10 ? 2 : 1)}${units[unit]}`;
};
