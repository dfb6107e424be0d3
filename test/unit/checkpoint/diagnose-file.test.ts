import { openCheckpoint } from '@kvad/core';
import { describe, expect, it } from 'vitest';
import { fileWithHeader, folderOf, refusal } from './files.js';

const text = (content: string): Uint8Array => new TextEncoder().encode(content);
const LFS = 'version https://git-lfs.github.com/spec/v1\noid sha256:9f1c\nsize 548105171\n';

/** Files that carry the name of a safetensors file and are something else. */
const FOREIGN: readonly (readonly [what: string, file: Uint8Array, message: string, hint: string])[] = [
  ['a Git LFS pointer', text(LFS), 'a Git LFS pointer', 'git lfs pull'],
  ['a login page', text('<!DOCTYPE html>\n<html class="">…'), 'a web page', 'accept its terms'],
  ['a page after white space', text('\r\n  <html><head>'), 'a web page', 'HF_TOKEN'],
  ['an error of a server', text('{"error":"Repository not found"}'), 'an answer of a server', 'download'],
  ['a zip of PyTorch', Uint8Array.of(0x50, 0x4b, 3, 4, 0, 0, 8, 8, 0, 0), 'a zip archive', 'safe_serialization'],
  [
    'a pickle, protocol 2',
    Uint8Array.of(0x80, 2, 0x8a, 10, 0x6c, 0xfc, 0x9c, 0x46, 0xf9, 0x20),
    'a PyTorch pickle',
    'convert',
  ],
  ['a pickle, protocol 4', Uint8Array.of(0x80, 4, 0x95, 3, 0, 0, 0, 0, 0, 0, 0, 0x7d), 'a PyTorch pickle', 'convert'],
  ['GGUF', text('GGUF\x03\0\0\0\x23\x01\0\0\0\0\0\0'), 'a GGUF file', 'safetensors'],
  ['zeros', new Uint8Array(5000), 'nothing but zeros', 'download'],
  ['few zeros', new Uint8Array(3), 'nothing but zeros', 'download'],
  ['empty', new Uint8Array(0), 'empty', 'download'],
];

describe('a file that is no safetensors file is named for what it is', () => {
  it.each(FOREIGN)('%s', (_, file, message, hint) => {
    const directory = folderOf({ 'model.safetensors': file });
    const error = refusal(() => openCheckpoint(directory));
    expect(error.code).toBe('KVAD_E_SAFETENSORS_FOREIGN');
    expect(error.message).toContain(`model.safetensors is not a safetensors file: it is ${message}`);
    expect(error.hint).toContain(hint);
  });

  it('but a header whose length looks like the start of a pickle is a header', () => {
    const header = JSON.stringify({ t: { dtype: 'U8', shape: [1], data_offsets: [0, 1] } }).padEnd(0x280);
    const file = fileWithHeader(header, 1);
    expect([...file.subarray(0, 2)]).toEqual([0x80, 2]);
    openCheckpoint(folderOf({ 'model.safetensors': file })).close();
    const cut = folderOf({ 'model.safetensors': file.subarray(0, 100) });
    expect(refusal(() => openCheckpoint(cut)).code).toBe('KVAD_E_SAFETENSORS_TRUNCATED');
  });
});
