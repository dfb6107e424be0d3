/** Classes of Python's exceptions that a template can meet. */
export type ErrorKind =
  | 'AssertionError'
  | 'AttributeError'
  | 'FilterArgumentError'
  | 'IndexError'
  | 'KeyError'
  | 'LookupError'
  | 'OverflowError'
  | 'RuntimeError'
  | 'SecurityError'
  | 'TemplateError'
  | 'TemplateRuntimeError'
  | 'TypeError'
  | 'UndefinedError'
  | 'UnicodeError'
  | 'ValueError'
  | 'ZeroDivisionError';

/** An exception as Python would raise it; its message is Python's where users know it. */
export class PythonError extends Error {
  readonly kind: ErrorKind;
  /** Of the template; null: not known (yet). */
  line: number | null = null;

  constructor(kind: ErrorKind, message: string) {
    super(message);
    this.kind = kind;
  }
}

export const typeError = (message: string): PythonError => new PythonError('TypeError', message);
export const valueError = (message: string): PythonError => new PythonError('ValueError', message);
