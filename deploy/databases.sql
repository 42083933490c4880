CREATE DATABASE dagster OWNER slowwave;
