import { nativeFormat } from '../../src/protocol/native/native-format.ts';
import { describeFormat } from './format.suite.ts';
import { readNativeStream } from './read-native-stream.ts';

describeFormat(nativeFormat, { fixtures: 'native', readStream: readNativeStream });
