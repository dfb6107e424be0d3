import { defineConfig } from 'vitest/config';

/** A folder that is not there: caches and settings of whoever runs the tests are none of theirs. */
const NOWHERE = '/nonexistent/kvad-tests';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/bundle-is-fresh.ts'],
    setupFiles: ['test/property-seed.ts'],
    // The packages run as they are shipped: Node loads what `tsc` built, nothing is transformed again.
    server: { deps: { external: [/\/dist\//] } },
    // Processes, because native modules and workers are part of what is tested. Two fill the smallest machine.
    pool: 'forks',
    maxWorkers: 2,
    // For what hangs. None measures speed: a machine may have ten times as much to do as ours.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    restoreMocks: true,
    unstubEnvs: true,
    // What a developer's environment says must not reach a test.
    env: { NO_COLOR: '1', HF_HUB_OFFLINE: '1', HF_HOME: NOWHERE, XDG_CONFIG_HOME: NOWHERE },
  },
});
