/** What an engine is made with. */
export interface EngineOptions {
  /** Plugins beside those that are found: folders or package names. */
  readonly plugins?: readonly string[];
  /** Where relative model folders and `kvad.config.json` are looked for; absent: the process's. */
  readonly workingDirectory?: string;
  /** Environment variables that say where the user's plugins and models are; absent: the process's. */
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/** Engine options with the defaults in their places. Plain data: it goes to the workers. */
export type EngineSettings = Required<EngineOptions>;

export const completeSettings = (options: EngineOptions): EngineSettings => ({
  plugins: options.plugins ?? [],
  workingDirectory: options.workingDirectory ?? process.cwd(),
  env: { ...(options.env ?? process.env) },
});
