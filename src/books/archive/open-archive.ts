import type { ArchivePlace } from '../../lib/address/books-target.ts';
import type { ArchiveStore } from './archive-store.ts';
import type { S3Settings } from './ask-s3.ts';
import { createFolderPlace } from './folder-place.ts';
import { createS3Place } from './s3-place.ts';

export function openArchive(
  settings: ArchivePlace,
  waits: Pick<S3Settings, 'firstWaitMs'> = {},
): ArchiveStore {
  if (settings.kind === 'folder') return createFolderPlace(settings.folder);
  const { accessKey, ...rest } = settings;
  return createS3Place({ ...rest, ...waits, accessKey: accessKey.reveal() });
}
