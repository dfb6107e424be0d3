/**
 * Builds the native arithmetic into `build/kvad.node`: one object per instruction set with its own flags, chosen at run
 * time. Run by `npm install`. Without a compiler it says so in one line and succeeds: the reference ops run then.
 * `--check FILE` builds the test program of `test/` instead, and fails where it does not compile; `--arch arm64`
 * builds it for another machine than this one (with a CXX that does); `--spelled` has it run the kernels of newer
 * machines with their instructions spelled out as loops; `--static` links it so that it runs where nothing else is.
 * Environment: CXX (else c++, g++, clang++), KVAD_NATIVE=0 (skip), KVAD_SANITIZE=address,undefined.
 */
import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';
import os from 'node:os';
import { $, argv, fs, glob, path, which } from 'zx';

$.quiet = true;
const here = import.meta.dirname;
const build = path.join(here, 'build');
const target = path.join(build, 'kvad.node');
const arch = argv.arch ?? process.arch;

/** `dladdr`, which older C libraries keep apart. */
const libraries = process.platform === 'linux' ? ['-ldl'] : [];

/** Tried in this order where CXX names none. */
const COMPILERS = ['c++', 'g++', 'clang++'];

const COMMON = [
  '-std=c++17',
  '-O3',
  '-fPIC',
  '-pthread',
  '-fno-math-errno',
  '-fno-trapping-math',
  '-fvisibility=hidden',
  '-Wall',
  '-Wextra',
];

/** Flags of a file beyond the common ones, by machine. The files guard themselves: without their flags they are empty. */
const FLAGS = {
  x64: {
    'kernels_avx2.cpp': ['-mavx2', '-mfma', '-mf16c'],
    'kernels_avxvnni.cpp': ['-mavx2', '-mfma', '-mf16c', '-mavxvnni'],
    'kernels_avx512.cpp': [
      '-Wno-maybe-uninitialized',
      '-Wno-uninitialized',
      '-mavx512f',
      '-mavx512bw',
      '-mavx512vl',
      '-mavx512dq',
      '-mavx512vnni',
      '-mavx2',
      '-mfma',
      '-mf16c',
    ],
  },
  arm64: {
    'kernels_neon.cpp': ['-march=armv8.2-a+dotprod+fp16'],
    'kernels_i8mm.cpp': ['-march=armv8.2-a+dotprod+fp16+i8mm'],
  },
};

/** With `--spelled`: what stands in for instructions that this machine may not have. */
const spelled = (set) => ['-include', path.join(here, `test/spelled_${set}.h`)];
const SPELLED = {
  'kernels_avx512.cpp': ['-D__AVX512VNNI__', ...spelled('avx512')],
  'kernels_avxvnni.cpp': ['-mavx2', '-mfma', '-mf16c', '-D__AVXVNNI__', ...spelled('avxvnni')],
};

await (argv.check === undefined ? addon() : check(path.resolve(argv.check)));

async function addon() {
  if (process.env.KVAD_NATIVE === '0')
    return say('native arithmetic is switched off (KVAD_NATIVE=0); the reference ops will run');
  if (process.platform === 'win32') return say('native arithmetic is not built on Windows; the reference ops will run');
  const compiler = await findCompiler();
  if (!compiler) return say(`${noCompiler()}: the reference ops will run, which are slow`);
  const include = createRequire(import.meta.url)('node-api-headers').include_dir;
  const common = [...COMMON, `-I${include}`, ...sanitizers()];
  const sources = await sourceFiles();
  const stamp = await stampOf([compiler, ...common], sources);
  if (await isBuilt(target, path.join(build, 'stamp'), stamp)) return;
  await fs.ensureDir(build);
  try {
    const objects = await compileAll(compiler, common, sources, build);
    const link = process.platform === 'darwin' ? ['-undefined', 'dynamic_lookup'] : [];
    const temporary = `${target}.${process.pid}`;
    await $`${compiler} -shared -pthread ${sanitizers()} ${link} -o ${temporary} ${objects} ${libraries}`;
    await fs.rename(temporary, target);
    await fs.writeFile(path.join(build, 'stamp'), stamp);
  } catch (error) {
    await fs.remove(target);
    say(`the native arithmetic did not compile with ${compiler}; the reference ops will run\n${error.stderr ?? error}`);
  }
}

/** All but the addon's surface, with the checks as `main`. Objects lie beside the program. */
async function check(program) {
  const compiler = await findCompiler();
  if (!compiler) throw new Error(noCompiler());
  const folder = `${program}.objects`;
  await fs.ensureDir(folder);
  const checks = (await glob('test/*.cpp', { cwd: here })).sort();
  const sources = [...(await sourceFiles()).filter((file) => !file.startsWith('src/addon')), ...checks];
  const flags = [...COMMON, `-I${here}/src`, ...sanitizers(), ...(argv.spelled ? ['-DKVAD_SPELLED'] : [])];
  const link = argv.static ? ['-static'] : [];
  const stamp = await stampOf(
    [compiler, ...flags, ...link],
    [...sources, ...(await glob('test/*.h', { cwd: here })).sort()],
  );
  if (await isBuilt(program, path.join(folder, 'stamp'), stamp)) return;
  const objects = await compileAll(compiler, flags, sources, folder);
  await $`${compiler} -pthread ${sanitizers()} ${link} -o ${program} ${objects} ${libraries}`;
  await fs.writeFile(path.join(folder, 'stamp'), stamp);
}

async function sourceFiles() {
  return (await glob('src/*.cpp', { cwd: here })).sort();
}

async function compileAll(compiler, common, sources, folder) {
  const objects = sources.map((source) => path.join(folder, `${path.basename(source, '.cpp')}.o`));
  const jobs = sources.map((source, index) => ({ source, object: objects[index] }));
  const lane = async () => {
    for (let job = jobs.shift(); job; job = jobs.shift()) {
      const name = path.basename(job.source);
      const own = argv.spelled && SPELLED[name] ? SPELLED[name] : (FLAGS[arch]?.[name] ?? []);
      const compile = (flags) => $`${compiler} ${common} ${flags} -c ${path.join(here, job.source)} -o ${job.object}`;
      // An older compiler does not know the newest instructions; without their flags the file is empty.
      if (own.length === 0) await compile([]);
      else await compile(own).catch(() => compile([]));
    }
  };
  await Promise.all(Array.from({ length: Math.max(1, os.availableParallelism()) }, lane));
  return objects;
}

function noCompiler() {
  const { CXX } = process.env;
  return CXX ? `CXX is ${CXX}, which is not there` : `no C++ compiler found (${COMPILERS.join(', ')})`;
}

async function findCompiler() {
  for (const name of process.env.CXX ? [process.env.CXX] : COMPILERS) {
    const found = await which(name, { nothrow: true });
    if (found) return found;
  }
  return null;
}

function sanitizers() {
  const names = process.env.KVAD_SANITIZE;
  return names ? [`-fsanitize=${names}`, '-g', '-O1', '-fno-omit-frame-pointer'] : [];
}

async function stampOf(command, sources) {
  const hash = createHash('sha256').update(JSON.stringify([command, arch, FLAGS]));
  for (const file of [...sources, ...(await glob('src/*.h', { cwd: here })).sort()])
    hash.update(await fs.readFile(path.join(here, file)));
  return hash.digest('hex');
}

async function isBuilt(file, stampFile, stamp) {
  const old = await fs.readFile(stampFile, 'utf8').catch(() => '');
  return old === stamp && (await fs.pathExists(file));
}

function say(text) {
  console.error(`kvad: ${text}`);
}
