/** A template that is none. `line` counts from 1. */
export class TemplateSyntaxError extends Error {
  readonly line: number;
  constructor(message: string, line: number) {
    super(message);
    this.line = line;
  }
}
