#!/bin/sh
exec java -Xmx128m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -cp '/opt/kafka/libs/*' kafka.admin.BrokerApiVersionsCommand "$@"
