/** Generated from cli-doctor.schema.json by `npm run generate`: change that file. */

/**
 * `kvad doctor --json`
 */
export interface CliDoctor {
  object: 'kvad.doctor';
  /**
   * no check is broken
   */
  healthy: boolean;
  checks: DoctorCheck[];
}
export interface DoctorCheck {
  name: string;
  state: 'ok' | 'warning' | 'broken' | 'skipped';
  found: string;
  hint: string | null;
}
